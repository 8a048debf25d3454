/** Whether the header's text is the signature of these bytes with this secret. */
export async function isSignatureOf(body: ArrayBuffer, header: string, secret: string): Promise<boolean> {
  if (!header.startsWith("sha256=")) {
    return false;
  }
  const given = header.slice("sha256=".length);
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, body));
  const expected = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  let difference = 0;
  for (let index = 0; index < Math.min(given.length, expected.length); index++) {
    difference |= given.charCodeAt(index) ^ expected.charCodeAt(index);
  }
  return difference === 0;
}
