/** Public names of stored files, and tokens for uploads. Both follow from a secret, so that they outlast the process. */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export interface FileAddress {
  readonly componentPath: string;
  readonly storageId: string;
}

// https://docs.convex.dev/file-storage/upload-files
const UPLOAD_URL_LIFETIME_MS = 60 * 60 * 1000;

/** Maps the unguessable parts of URLs to files and components. */
export class FileUrls {
  readonly #origin: () => string;
  readonly #secret: string;
  readonly #files = new Map<string, FileAddress>();
  #earlier: (() => Iterable<FileAddress>) | null;

  /** `earlier`: the files that there were before the process started. */
  constructor(
    origin: () => string,
    secret = randomBytes(32).toString("hex"),
    earlier: (() => Iterable<FileAddress>) | null = null,
  ) {
    this.#origin = origin;
    this.#secret = secret;
    this.#earlier = earlier;
  }

  downloadUrl(componentPath: string, storageId: string): string {
    return `${this.#origin()}/api/storage/${this.#named({ componentPath, storageId })}`;
  }

  uploadUrl(componentPath: string): string {
    const claims = [componentPath, Date.now() + UPLOAD_URL_LIFETIME_MS, randomBytes(12).toString("hex")];
    const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
    return `${this.#origin()}/api/storage/upload?token=${text}.${this.#mac("upload", text).toString("base64url")}`;
  }

  fileOf(publicId: string): FileAddress | undefined {
    if (!this.#files.has(publicId) && this.#earlier) {
      for (const address of this.#earlier()) this.#named(address);
      this.#earlier = null;
    }
    return this.#files.get(publicId);
  }

  /** The component that a live upload token belongs to, or null. */
  uploadTarget(token: string): string | null {
    const [text = "", mac = ""] = token.split(".");
    const given = Buffer.from(mac, "base64url");
    const expected = this.#mac("upload", text);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const [componentPath, expiresMs] = JSON.parse(Buffer.from(text, "base64url").toString()) as [string, number];
    return expiresMs < Date.now() ? null : componentPath;
  }

  #named(address: FileAddress): string {
    const hex = this.#mac("file", `${address.componentPath}|${address.storageId}`).toString("hex");
    const publicId = hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    this.#files.set(publicId, address);
    return publicId;
  }

  #mac(purpose: string, text: string): Buffer {
    return createHmac("sha256", this.#secret).update(`${purpose}:${text}`).digest();
  }
}
