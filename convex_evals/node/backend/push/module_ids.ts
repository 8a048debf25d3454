/** What modules of a push are called inside the realm: URLs of their own. */

import path from "node:path";
import { ModuleResolutionError } from "../realm/modules.ts";

export function definitionIdentifier(definitionPath: string): string {
  return `definition:/${encodeURIComponent(definitionPath)}`;
}

/** "convex:/messages.js", or with the component's path as one segment before it. */
export function identifier(definitionPath: string, modulePath: string): string {
  return definitionPath === ""
    ? `convex:/${modulePath}`
    : `convex:/${encodeURIComponent(definitionPath)}/${modulePath}`;
}

export function relativeIdentifier(specifier: string, importer: string): string {
  if (!specifier.startsWith(".")) {
    const text = `Relative import path "${specifier}" not prefixed with / or ./ or ../ from "${importer}"`;
    throw new ModuleResolutionError(text);
  }
  const folder = path.posix.dirname(importer.replace(/^convex:/, ""));
  return `convex:${path.posix.join(folder, specifier)}`;
}
