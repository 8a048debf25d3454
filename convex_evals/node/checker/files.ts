/** Which files of a project are its source. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

const TYPESCRIPT = /\.[mc]?tsx?$/;

function readJson(file: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Unreadable configuration is reported when the project is bundled; here it only means the default.
    return undefined;
  }
}

/** Absolute path of the folder with the Convex functions: convex.json's `functions`, `convex/` otherwise. */
export function functionsFolder(root: string): string {
  const configured = readJson(path.join(root, "convex.json"))?.functions;
  const folder = path.resolve(root, typeof configured === "string" ? configured : "convex");
  return folder.startsWith(root + path.sep) ? folder : path.join(root, "convex");
}

/** Every TypeScript file below `folder`, absolute and sorted; packages and symbolic links are left out. */
export function typescriptFiles(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const found: string[] = [];
  const visit = (current: string): void => {
    for (const entry of readdirSync(current, { withFileTypes: true })) {
      const file = path.join(current, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules") visit(file);
      } else if (entry.isFile() && TYPESCRIPT.test(entry.name)) {
        found.push(file);
      }
    }
  };
  visit(folder);
  return found.sort();
}

const GENERATED = /(^|\/)_generated\/\w+(\.d)?\.[jt]s$/;

/** Whether Convex wrote a file of a bundled project; bundling refuses folders of this name that it did not write. */
export function isGenerated(file: string): boolean {
  return GENERATED.test(file) && !file.startsWith("<");
}

/** Whether a file is JavaScript, which has no types of its own. */
export function isJavaScript(file: string): boolean {
  return /\.[mc]?jsx?$/.test(file);
}

/** Whether a file is named as settings of a tool are. */
export function isSettings(file: string): boolean {
  return /(^|\/)(vitest\.[\w.-]+|[\w.-]+\.config)\.[mc]?[jt]s$/.test(file);
}
