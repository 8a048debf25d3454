/** Text of the web in the default runtime: encoders, decoders, base64. */

import { moduleFile, type Expected, type Row } from "../harness.ts";

const TEXT = "get-convex/convex-backend npm-packages/udf-runtime/src/08_text_encoding.ts";
const BASE64 = "get-convex/convex-backend crates/isolate/src/ops/text.rs";

function row(id: string, rule: string, citation: string, body: string, expected: Expected): Row {
  const files = moduleFile(
    "m",
    `const failure = (make: () => unknown): unknown => { try { return make(); } catch (error: any) { return [error.name, error.message, error instanceof TypeError]; } };
export const run = query({ args: {}, handler: async (): Promise<any> => {\n${body}\n} });`,
  );
  return { id: `web_text/${id}`, rule, citation, files, steps: [{ call: "query", path: "m:run" }], expected };
}

export const rows: readonly Row[] = [
  row(
    "encode",
    "Text becomes UTF-8, in an array of the function's own.",
    TEXT,
    'const bytes = new TextEncoder().encode("aé€😀"); return [[...bytes], bytes instanceof Uint8Array, bytes.buffer instanceof ArrayBuffer, Object.getPrototypeOf(bytes) === Uint8Array.prototype, new TextEncoder().encoding];',
    { value: [[97, 195, 169, 226, 130, 172, 240, 159, 152, 128], true, true, true, "utf-8"] },
  ),
  row(
    "encode-half",
    "Half a character becomes the replacement character; nothing becomes nothing.",
    TEXT,
    'return [[...new TextEncoder().encode("\\ud83d")], new TextEncoder().encode().length];',
    { value: [[239, 191, 189], 0] },
  ),
  row(
    "encode-into",
    "An encoder writes as many whole characters as fit.",
    TEXT,
    'const into = new Uint8Array(5); const { read, written } = new TextEncoder().encodeInto("a€€", into); return [read, written, [...into], failure(() => new TextEncoder().encodeInto("a", [] as any))];',
    { value: [2, 4, [97, 226, 130, 172, 0], ["TypeError", "encodeInto: the destination must be a Uint8Array", true]] },
  ),
  row(
    "decode",
    "Buffers, and views of a part of one, become text without the byte order mark.",
    TEXT,
    'const bytes = new Uint8Array([239, 187, 191, 195, 169]); return [bytes, bytes.buffer, new DataView(bytes.buffer, 3), bytes.subarray(3)].map((of) => new TextDecoder().decode(of)).concat(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), new TextDecoder().decode());',
    { value: ["é", "é", "é", "é", "\ufeffé", ""] },
  ),
  row(
    "decode-stream",
    "A decoder keeps the beginning of a character until its end arrives.",
    TEXT,
    "const decoder = new TextDecoder(); return [[226, 130], [172, 240], [159, 152, 128]].map((part) => decoder.decode(new Uint8Array(part), { stream: true })).concat(decoder.decode(new Uint8Array([33])));",
    { value: ["", "€", "😀", "!"] },
  ),
  row(
    "decode-labels",
    "Encodings have many names.",
    TEXT,
    'return [["UTF8", [0x61]], ["latin1", [0xe9]], ["utf-16le", [0x61, 0]], ["shift_jis", [0x82, 0xa0]]].map(([label, bytes]: any) => { const decoder = new TextDecoder(label); return [decoder.encoding, decoder.decode(new Uint8Array(bytes))]; });',
    {
      value: [
        ["utf-8", "a"],
        ["windows-1252", "é"],
        ["utf-16le", "a"],
        ["shift_jis", "あ"],
      ],
    },
  ),
  row("decode-unknown", "An unknown encoding is refused.", TEXT, 'return failure(() => new TextDecoder("utf-7"));', {
    value: ["RangeError", "The encoding label provided ('utf-7') is invalid.", false],
  }),
  row(
    "decode-fatal",
    "Bytes that are no text become replacement characters, or are refused; the decoder goes on.",
    TEXT,
    'const strict = new TextDecoder("utf-8", { fatal: true }); const bad = new Uint8Array([97, 255]); return [new TextDecoder().decode(bad), strict.fatal, failure(() => strict.decode(bad)), strict.decode(new Uint8Array([98])), failure(() => strict.decode("text" as any))];',
    {
      value: [
        "a\ufffd",
        true,
        ["TypeError", "The encoded data is not valid", true],
        "b",
        ["TypeError", "decode: the input must be an ArrayBuffer or a view of one", true],
      ],
    },
  ),
  row(
    "streams",
    "Text and bytes pass through streams, whose chunks may end within a character.",
    TEXT,
    'const through = async (chunks: any[], step: any) => { const from = new ReadableStream({ start(c) { chunks.forEach((chunk) => c.enqueue(chunk)); c.close(); } }); const all: any[] = []; for await (const chunk of from.pipeThrough(step) as any) all.push(typeof chunk === "string" ? chunk : [...chunk]); return all; };\nreturn [await through(["a\\ud83d", "\\ude00", "\\ud83d"], new TextEncoderStream()), await through([new Uint8Array([97, 226]), new Uint8Array([130, 172])], new TextDecoderStream()), new TextDecoderStream("latin1").encoding];',
    { value: [[[97], [240, 159, 152, 128], [239, 191, 189]], ["a", "€"], "windows-1252"] },
  ),
  row(
    "names",
    "The classes say what they are.",
    TEXT,
    "return [new TextEncoder(), new TextDecoder(), new TextEncoderStream(), new TextDecoderStream()].map((object) => [String(object), object.constructor.name]);",
    {
      value: ["TextEncoder", "TextDecoder", "TextEncoderStream", "TextDecoderStream"].map((name) => [
        `[object ${name}]`,
        name,
      ]),
    },
  ),
  row(
    "base64",
    "Text of Latin-1 becomes base64, and back.",
    BASE64,
    'return [btoa("aé"), atob("YQ =\\n="), atob("YQ")];',
    {
      value: ["Yek=", "a", "a"],
    },
  ),
  row(
    "base64-refused",
    "Other text is refused.",
    BASE64,
    'return [failure(() => btoa("€")), failure(() => atob("a*bc")), failure(() => atob("a")), failure(() => (atob as any)()), (() => { try { btoa("€"); } catch (error) { return error instanceof DOMException; } })()];',
    {
      value: [
        [
          "InvalidCharacterError",
          "Failed to execute 'btoa': The string to be encoded contains characters outside of the Latin1 range.",
          false,
        ],
        ["InvalidCharacterError", "Failed to execute 'atob': Invalid byte 42, offset 1.", false],
        ["InvalidCharacterError", "Failed to execute 'atob': Encoded text cannot have a 6-bit remainder.", false],
        ["TypeError", 'The "input" argument must be specified', true],
        true,
      ],
    },
  ),
];
