/** Paths of this machine in what clients are told: an app that is kept is shown to others, and where it lies is not. */

import { realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";

/** Makes an error, or a line of the log, into what clients are told of it. */
export type Told = (text: string) => string;

/** All of it. */
export const everything: Told = (text) => text;

/** The text without paths that lead into `folders`: of each, the name from the app's folder, or that of its packages, is left. */
export function withoutPaths(folders: readonly string[]): Told {
  const roots = folders.filter((folder) => folder !== path.parse(folder).root);
  // The longest first: of two that match, it hides more.
  const names = [...new Set(roots)].sort((a, b) => b.length - a.length).map(escaped);
  // How source maps and stacks write them, too: "../../root/x.js", "file:///root/x.js".
  const before = String.raw`(?<![\w~-])(?:file:\/\/|(?:\.\.\/){0,31}\.\.)?`;
  const pattern = new RegExp(`${before}(${names.join("|")})${REST}`, "g");
  return (text) => text.replace(pattern, (_all, _folder, rest: string | undefined) => nameOf(rest ?? ""));
}

const REST = String.raw`(?![\w-]|\.\w)(\/[^\s:'"\`()<>,;]*)?`;

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function nameOf(rest: string): string {
  for (const folder of ["/node_modules/", "/convex/"]) {
    const at = rest.lastIndexOf(folder);
    if (at >= 0) return `..${rest.slice(at)}`;
  }
  return path.basename(rest) || "(a folder)";
}

/** What is this machine's own of all that the process knows. */
export function machineFolders(data: string): string[] {
  const own = [data, process.cwd(), path.dirname(process.cwd()), home(), tmpdir(), "/tmp"];
  // What runs is in `backend/app/` of the toolchain's sources; a bundle has no other name for where it is.
  const toolchain = path.resolve(process.argv[1] ?? "", "../../../..");
  const ours = [toolchain, path.dirname(process.execPath)];
  return [...own, ...ours].map((folder) => path.resolve(folder)).flatMap((folder) => [folder, real(folder)]);
}

// The user of the process may be unknown to the system, as in some containers: then this throws.
function home(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}

function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
