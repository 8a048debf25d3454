/** File storage: https://docs.convex.dev/file-storage/file-metadata */

import { mediaTypeFault } from "../media_types.ts";
import { tableOfId } from "./document_ids.ts";
import { host } from "embedded:host";

interface StoredFile {
  readonly _id: string;
  readonly sha256: string;
  readonly size: number;
  readonly contentType?: string;
}

/**
 * The `_storage` document of a new file; the digest is written in base 64, whatever the documentation says.
 * get-convex/convex-backend crates/model/src/file_storage/virtual_table.rs
 */
export function newFileFields(blob: Blob, sha256: string, expectedSha256: string | undefined): Omit<StoredFile, "_id"> {
  const fault = blob.type === "" ? null : mediaTypeFault(blob.type);
  if (fault !== null) throw new Error(fault);
  if (expectedSha256 !== undefined && !/^[A-Za-z0-9+/]{43}=$/.test(expectedSha256)) {
    throw new Error("invalid HTTP header");
  }
  if (expectedSha256 !== undefined && expectedSha256 !== sha256) {
    throw new Error(`Sha256 mismatch. Expected: ${expectedSha256} Actual: ${sha256}`);
  }
  return { size: blob.size, sha256, ...(blob.type ? { contentType: blob.type } : {}) };
}

/** What `ctx.storage.getMetadata` returns; the digest is in base 16. */
export function fileMetadata(file: StoredFile | null): object | null {
  if (!file) return null;
  const bytes = host.base64Decode(file.sha256);
  const sha256 = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { storageId: file._id, sha256, size: file.size, contentType: file.contentType ?? null };
}

export function checkStorageId(storageId: unknown, document: unknown): void {
  if (typeof storageId !== "string" || tableOfId(storageId) !== "_storage") {
    throw new Error(`Invalid storage ID: ${JSON.stringify(storageId)}`);
  }
  if (document === null) throw new Error(`storage id ${storageId} not found`);
}

export function blobFromBase64(base64: string, contentType: string | undefined): Blob {
  return new Blob([host.base64Decode(base64)], { type: contentType ?? "" });
}

export async function blobToBase64(blob: Blob): Promise<{ blob: string; contentType: string | null }> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return { blob: host.base64Encode(bytes), contentType: blob.type || null };
}
