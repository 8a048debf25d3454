/** Uploads and downloads: https://docs.convex.dev/file-storage, get-convex/convex-backend crates/local_backend/src/storage.rs */

import { createHash } from "node:crypto";
import type { App } from "./app/app.ts";
import { HttpError } from "./errors.ts";
import { readBody, sendJson, type Exchange } from "./http_body.ts";
import { mediaTypeFault } from "./media_types.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DIGEST = /^sha-256=([A-Za-z0-9+/]{43}=)$/;

/** POST /api/storage/upload; a header may say which digest the file has. */
export async function uploadFile({ request, response, url }: Exchange, app: App): Promise<void> {
  const componentPath = app.files.uploadTarget(url.searchParams.get("token") ?? "");
  if (componentPath === null) throw new HttpError(400, "StorageTokenInvalid", "Invalid or expired upload token");
  const { "content-type": type = "", digest } = request.headers;
  if (type !== "" && mediaTypeFault(type) !== null) throw badHeader("content-type");
  const expected = DIGEST.exec(String(digest))?.[1];
  if (digest !== undefined && expected === undefined) throw badHeader("digest");
  const bytes = new Uint8Array(await readBody(request));
  const actual = sha256(bytes);
  if (expected !== undefined && expected !== actual) {
    throw new HttpError(400, "Sha256Mismatch", `Sha256 mismatch. Expected: ${expected} Actual: ${actual}`);
  }
  sendJson(response, { storageId: await app.storeFile(componentPath, new Blob([bytes], { type })) });
}

function badHeader(name: string): HttpError {
  return new HttpError(400, "BadHeader", `Bad header for ${name}: invalid HTTP header`);
}

/** GET /api/storage/ID: the whole file with its digest, or one range of it. */
export async function downloadFile({ request, response }: Exchange, app: App, publicId: string): Promise<void> {
  if (!UUID.test(publicId)) {
    const advice =
      "Please use `storage.getUrl()` to generate a valid URL to retrieve files. See https://docs.convex.dev/file-storage/serve-files for more details";
    throw new HttpError(400, "InvalidStoragePath", `Invalid storage path: "${publicId}". ${advice}`);
  }
  const address = app.files.fileOf(publicId);
  const blob = address ? app.storedFile(address) : null;
  if (!blob) throw new HttpError(404, "FileNotFound", `File ${publicId} not found`);
  const headers = {
    ...(blob.type ? { "content-type": blob.type } : {}),
    "accept-ranges": "bytes",
    "cache-control": "private, max-age=2592000",
  };
  const range = byteRange(request.headers.range, blob.size);
  if (range === "unsatisfiable") return void response.writeHead(416).end();
  const part = range ? blob.slice(range.first, range.last + 1) : blob;
  const bytes = new Uint8Array(await part.arrayBuffer());
  const partHeaders = range
    ? { "content-range": `bytes ${range.first}-${range.last}/${blob.size}` }
    : { digest: `sha-256=${sha256(bytes)}` };
  response.writeHead(range ? 206 : 200, { ...headers, ...partHeaders, "content-length": part.size });
  response.end(bytes);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

// Several ranges are more than Convex serves; a header of another form is ignored.
function byteRange(header: string | undefined, size: number): { first: number; last: number } | "unsatisfiable" | null {
  if (/^bytes=[\d-]+(, *[\d-]+)+$/.test(header ?? "")) return "unsatisfiable";
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (from === undefined || to === undefined || (from === "" && to === "")) return null;
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return first > last ? "unsatisfiable" : { first, last };
}
