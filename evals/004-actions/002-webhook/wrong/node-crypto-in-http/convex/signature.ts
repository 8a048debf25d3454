import { createHmac, timingSafeEqual } from "node:crypto";

/** Whether the header's text is the signature of these bytes with this secret. */
export function isSignatureOf(body: ArrayBuffer, header: string, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(Buffer.from(body)).digest("hex")}`);
  const given = Buffer.from(header);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
