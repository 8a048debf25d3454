/** The files of packages that modules for Node.js import instead of containing them: a folder for each push. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { DeployError } from "../errors.ts";
import { PACKAGE_LOADER } from "../node_messages.ts";

/** As `push/external_packages.ts` sends them. */
export interface ExternalPackages {
  readonly files: readonly { readonly path: string; readonly size: number; readonly executable: boolean }[];
  readonly contents: string;
}

const MOST_BYTES = 230_000_000;
const INSIDE = /^(?!.*(?:^|\/)\.\.?(?:\/|$))[^/\0][^\0]*$/;

const folders = new Set<string>();
process.on("exit", () => {
  for (const folder of folders) removePackages(folder);
});

/** A new folder in whose `node_modules` the packages are. */
export function unpackPackages({ files, contents }: ExternalPackages): string {
  const folder = mkdtempSync(path.join(tmpdir(), "convex-packages-"));
  folders.add(folder);
  try {
    const bytes = gunzipSync(Buffer.from(contents, "base64"), { maxOutputLength: MOST_BYTES });
    let at = 0;
    for (const { path: name, size, executable } of files) {
      if (!INSIDE.test(name)) throw new Error(`${name} is no path of a package`);
      const file = path.join(folder, "node_modules", name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, bytes.subarray(at, at + size));
      if (executable) chmodSync(file, 0o755);
      at += size;
    }
    writeFileSync(path.join(folder, PACKAGE_LOADER), "export const load = (specifier) => import(specifier);\n");
    return folder;
  } catch (error) {
    removePackages(folder);
    const reason = `Loading the pushed modules encountered the following error:\n${(error as Error).message}`;
    throw new DeployError("InvalidExternalModules", reason);
  }
}

export function removePackages(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
}
