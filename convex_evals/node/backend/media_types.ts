/**
 * Media types as Convex reads them, with the crate `mime`: of uploads, of blobs, and of what storage is asked to keep.
 * https://docs.rs/mime/0.3.17/mime/struct.Mime.html
 */

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = `\\s*;\\s*${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`;
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:${PARAMETER})*\\s*;?$`);

/** What is wrong with a media type, in the crate's words; null for one that can be read. */
export function mediaTypeFault(text: string): string | null {
  if (MEDIA_TYPE.test(text)) return null;
  const missing = !text.includes("/");
  const fault = missing ? "a slash (/) was missing between the type and subtype" : "an invalid token was encountered";
  return `mime parse error: ${fault}`;
}
