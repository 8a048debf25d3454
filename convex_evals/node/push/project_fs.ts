/**
 * The file system that the official code sees: the project folder, and packages.
 *
 * A project may hold symbolic links. Following one would let code generation overwrite, or an error message quote, a
 * file of the host, so every path is checked by its real location.
 */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import path from "node:path";
import type { Filesystem } from "#official/bundler/fs.js";
import { DeployError } from "./deploy_error.ts";

/** Part of the path of every file that a package brought. */
export const PACKAGES = `${path.sep}node_modules${path.sep}`;

/** The path with forward slashes. */
export function posix(file: string): string {
  return file.split(path.sep).join("/");
}

/** The path as answers and records show it: relative to the project, with forward slashes. */
export function shownPath(root: string, file: string): string {
  return posix(path.relative(root, file));
}

/** Files of code; some of them are declarations. */
export const SCRIPT = /\.[mc]?[jt]sx?$/;
/** As TypeScript names them: of a file with any suffix, too. */
const DECLARATIONS = /\.d(\.[^./]+)?\.[mc]?ts$/;

/** Whether a file may hold code that the type check reads. */
export function isScript(file: string): boolean {
  return SCRIPT.test(file) && !DECLARATIONS.test(file);
}

/** Whether `file` is `root` or lies in it; both are real paths. */
export function isInside(root: string, file: string): boolean {
  return file === root || file.startsWith(root + path.sep);
}

/** The real path of the nearest existing ancestor (or the path itself), with what does not exist yet appended. */
function realLocation(file: string): string {
  const absolute = path.resolve(file);
  const parent = path.dirname(absolute);
  if (existsSync(absolute) || parent === absolute) return realpathSync(absolute);
  return path.join(realLocation(parent), path.basename(absolute));
}

function isSymbolicLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/**
 * Wraps the official file system.
 *
 * @param root real path of the project folder
 * @throws DeployError from the returned methods, for a path that leads out of the project
 */
export function projectFilesystem(base: Filesystem, root: string): Filesystem {
  const readable = (file: string): string => {
    const real = realLocation(file);
    if (isInside(root, real) || real.includes(PACKAGES)) return file;
    throw new DeployError(`${path.relative(root, path.resolve(file))} leads out of the project folder`);
  };
  const writable = (file: string): string => {
    const relative = path.relative(root, path.resolve(file));
    if (isSymbolicLink(file)) {
      throw new DeployError(`${relative} is a symbolic link; generated code is not written there`);
    }
    const real = realLocation(file);
    if (isInside(root, real) && !real.includes(PACKAGES)) return file;
    throw new DeployError(`${relative} leads out of the project folder; generated code is not written there`);
  };
  return {
    listDir: (folder) => base.listDir(readable(folder)),
    exists: (file) => base.exists(file),
    stat: (file) => {
      if (existsSync(file)) return base.stat(file);
      // The official code asks for whatever esbuild names in its metafile.
      const name = path.relative(root, path.resolve(file));
      throw new DeployError(
        `${name} cannot be bundled: Convex looks for a file of this very name, with query, fragment and import attributes`,
      );
    },
    readUtf8File: (file) => base.readUtf8File(readable(file)),
    createReadStream: (file, options) => base.createReadStream(readable(file), options),
    access: (file) => base.access(file),
    writeUtf8File: (file, contents, mode) => base.writeUtf8File(writable(file), contents, mode),
    mkdir: (folder, options) => base.mkdir(writable(folder), options),
    rmdir: (folder) => base.rmdir(writable(folder)),
    unlink: (file) => base.unlink(writable(file)),
    swapTmpFile: (from, to) => base.swapTmpFile(from, writable(to)),
    registerPath: (file, stats) => base.registerPath(file, stats),
    invalidate: () => base.invalidate(),
  };
}
