const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

function hexToBytes(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  }
  return bytes;
}

/** Is `header` the right HMAC of the body, under this secret? */
export async function isSignatureValid(
  header: string,
  secret: string,
  body: ArrayBuffer,
): Promise<boolean> {
  const digest = SIGNATURE.exec(header)?.[1];
  if (digest === undefined) {
    return false;
  }
  const key = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  // subtle.verify compares in constant time.
  return await crypto.subtle.verify("HMAC", key, hexToBytes(digest), body);
}
