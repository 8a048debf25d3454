/**
 * Forms as bodies of messages.
 *
 * https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
 * get-convex/convex-backend npm-packages/udf-runtime/src/21_formdata.ts
 */

import { Blob, bytesOfBlob } from "./blob.ts";
import { FormData, type Entry } from "./form_data.ts";
import { TextDecoder, utf8 } from "./text.ts";
import { pairsOf } from "./url_search_params.ts";

const BOUNDARY_DIGITS = 28;
const LONE_BREAK = /\r(?!\n)|(?<!\r)\n/g;
const ESCAPES: Readonly<Record<string, string>> = { "\n": "%0A", "\r": "%0D", '"': "%22" };

/** A form as bytes, with the content type that names their boundary. */
export function multipartOf(entries: readonly Entry[]): { readonly bytes: Uint8Array; readonly type: string } {
  const boundary = `${Math.random()}${Math.random()}`.replaceAll(".", "").slice(-BOUNDARY_DIGITS);
  const parts = entries.flatMap(([name, value]): (string | Blob)[] => {
    const start = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(withBreaks(name))}"`;
    if (typeof value === "string") return [`${start}\r\n\r\n${withBreaks(value)}\r\n`];
    const type = value.type || "application/octet-stream";
    return [`${start}; filename="${escaped(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`, value, "\r\n"];
  });
  const type = `multipart/form-data; boundary=${boundary}`;
  return { bytes: bytesOfBlob(new Blob([...parts, `--${boundary}--\r\n`]))!, type };
}

function withBreaks(text: string): string {
  return text.replace(LONE_BREAK, "\r\n");
}

function escaped(text: string): string {
  return text.replace(/[\r\n"]/g, (character) => ESCAPES[character]!);
}

/** The form that a body is. */
export function formOf(bytes: Uint8Array, contentType: string | null): FormData {
  if (contentType === null) throw new TypeError("Missing content type");
  const [essence = "", ...parameters] = contentType.split(";").map((part) => part.trim());
  switch (essence.toLowerCase()) {
    case "multipart/form-data":
      return multipartForm(bytes, boundaryOf(parameters));
    case "application/x-www-form-urlencoded": {
      const form = new FormData();
      for (const [name, value] of pairsOf(decoded(bytes))) form.append(name, value);
      return form;
    }
    default:
      throw new TypeError("Body cannot be decoded as form data");
  }
}

function boundaryOf(parameters: readonly string[]): string {
  const found = parameters.map((text) => /^boundary="?([^"]*)"?$/i.exec(text)?.[1]).find(Boolean);
  if (!found) throw new TypeError("Missing boundary parameter in mime type of multipart formdata.");
  return found;
}

function multipartForm(bytes: Uint8Array, boundary: string): FormData {
  const form = new FormData();
  const delimiter = utf8(`\r\n--${boundary}`);
  // The first delimiter may be without the line break that belongs to the others.
  let at = startsWith(bytes, delimiter.subarray(2), 0) ? delimiter.length - 2 : after(bytes, delimiter, 0);
  while (!startsWith(bytes, utf8("--"), at)) {
    const headersAt = after(bytes, utf8("\r\n"), at);
    const contentAt = after(bytes, utf8("\r\n\r\n"), headersAt - 2);
    const next = after(bytes, delimiter, contentAt - 2);
    const content = bytes.slice(contentAt, Math.max(contentAt, next - delimiter.length));
    addPart(form, decoded(bytes.subarray(headersAt, contentAt)), content);
    at = next;
  }
  return form;
}

function addPart(form: FormData, headers: string, content: Uint8Array): void {
  const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? "";
  const name = parameter(disposition, "name");
  if (name === undefined) throw new TypeError("Body cannot be decoded as form data");
  const filename = parameter(disposition, "filename");
  if (filename === undefined) return form.append(name, decoded(content));
  const type = /^content-type:(.*)$/im.exec(headers)?.[1]?.trim();
  form.append(name, new Blob([content], { type: type ?? "" }), filename);
}

function parameter(disposition: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^;\\s]*))`, "i").exec(disposition);
  const text = found?.[1] ?? found?.[2];
  return text?.replace(/%0A|%0D|%22/gi, (escape) => decodeURIComponent(escape));
}

/** Where the first of these sequences ends, from there on. */
function after(bytes: Uint8Array, sequence: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(sequence[0]!, from); at !== -1; at = bytes.indexOf(sequence[0]!, at + 1)) {
    if (startsWith(bytes, sequence, at)) return at + sequence.length;
  }
  throw new TypeError("Body cannot be decoded as form data");
}

function startsWith(bytes: Uint8Array, sequence: Uint8Array, at: number): boolean {
  return sequence.every((byte, index) => bytes[at + index] === byte);
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
