/** Whether the header's text is the signature of these bytes with this secret. */
export async function isSignatureOf(body: Uint8Array<ArrayBuffer>, header: string, secret: string): Promise<boolean> {
  const digits = header.match(/^sha256=([0-9a-f]{64})$/)?.[1];
  if (digits === undefined) {
    return false;
  }
  const signature = Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  return await crypto.subtle.verify("HMAC", key, signature, body);
}
