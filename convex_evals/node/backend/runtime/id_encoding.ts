/**
 * Document ids as Convex writes them: the table's number, 16 bytes and a
 * checksum, in base32.
 *
 * get-convex/convex-backend crates/value/src/{id_v6,base32}.rs
 */

// Crockford's alphabet, in lower case.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const INTERNAL_BYTES = 16;
const LENGTHS = { min: 31, max: 37 };

export type DecodedId = { readonly tableNumber: number } | { readonly problem: string };

/** The id of a document; `internal` are its 16 bytes. */
export function encodeId(tableNumber: number, internal: readonly number[]): string {
  const bytes = [...variableLength(tableNumber), ...internal];
  return base32([...bytes, ...checksum(bytes)]);
}

/** The number of the table that an id belongs to, or what is wrong with it. */
export function decodeId(id: string): DecodedId {
  const length = new TextEncoder().encode(id).length;
  const wrongLength = { problem: `Unable to decode ID: Invalid ID length ${length}` };
  if (length < LENGTHS.min || length > LENGTHS.max) return wrongLength;
  const bytes = fromBase32(id);
  if (!bytes) return { problem: "Unable to decode ID: ID wasn't valid base32" };
  const end = bytes.findIndex((byte) => byte < 0x80) + 1;
  if (end === 0 || end > 5) return { problem: "Unable to decode ID: Invalid table number" };
  const tableNumber = bytes.slice(0, end).reduce((sum, byte, at) => sum + (byte & 0x7f) * 2 ** (7 * at), 0);
  if (tableNumber === 0) return { problem: "Unable to decode ID: Invalid table number" };
  const body = bytes.slice(0, end + INTERNAL_BYTES);
  const footer = bytes.slice(end + INTERNAL_BYTES);
  if (footer.length !== 2) return wrongLength;
  const [found, expected] = [littleEndian(footer), littleEndian(checksum(body))];
  return found === expected
    ? { tableNumber }
    : { problem: `Unable to decode ID: Invalid ID version ${found} (expected ${expected})` };
}

function variableLength(number: number): number[] {
  return number < 0x80 ? [number] : [(number & 0x7f) | 0x80, ...variableLength(number >>> 7)];
}

// Fletcher-16 with modulus 256.
function checksum(bytes: readonly number[]): number[] {
  let [low, high] = [0, 0];
  for (const byte of bytes) {
    low = (low + byte) & 0xff;
    high = (high + low) & 0xff;
  }
  return [low, high];
}

function littleEndian([low = 0, high = 0]: readonly number[]): number {
  return (high << 8) | low;
}

function base32(bytes: readonly number[]): string {
  let [text, buffer, bits] = ["", 0, 0];
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET.charAt((buffer >>> (bits - 5)) & 31);
    buffer &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + ALPHABET.charAt((buffer << (5 - bits)) & 31);
}

function fromBase32(text: string): number[] | null {
  const bytes: number[] = [];
  let [buffer, bits] = [0, 0];
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return null;
    buffer = (buffer << 5) | digit;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(buffer >>> bits);
    buffer &= (1 << bits) - 1;
  }
  return bytes;
}
