/** Public names of stored files, and tokens for uploads. */

import { randomBytes, randomUUID } from "node:crypto";

export interface FileAddress {
  readonly componentPath: string;
  readonly storageId: string;
}

// https://docs.convex.dev/file-storage/upload-files
const UPLOAD_URL_LIFETIME_MS = 60 * 60 * 1000;

/** Maps the unguessable parts of URLs to files and components. */
export class FileUrls {
  readonly #origin: () => string;
  readonly #publicIds = new Map<string, string>();
  readonly #files = new Map<string, FileAddress>();
  readonly #uploads = new Map<string, { componentPath: string; expiresMs: number }>();

  constructor(origin: () => string) {
    this.#origin = origin;
  }

  downloadUrl(componentPath: string, storageId: string): string {
    const key = `${componentPath}|${storageId}`;
    let publicId = this.#publicIds.get(key);
    if (publicId === undefined) {
      publicId = randomUUID();
      this.#publicIds.set(key, publicId);
      this.#files.set(publicId, { componentPath, storageId });
    }
    return `${this.#origin()}/api/storage/${publicId}`;
  }

  uploadUrl(componentPath: string): string {
    const token = randomBytes(24).toString("hex");
    this.#uploads.set(token, { componentPath, expiresMs: Date.now() + UPLOAD_URL_LIFETIME_MS });
    return `${this.#origin()}/api/storage/upload?token=${token}`;
  }

  fileOf(publicId: string): FileAddress | undefined {
    return this.#files.get(publicId);
  }

  /** The component that a live upload token belongs to, or null. */
  uploadTarget(token: string): string | null {
    const upload = this.#uploads.get(token);
    if (!upload || upload.expiresMs < Date.now()) return null;
    return upload.componentPath;
  }
}
