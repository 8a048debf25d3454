/**
 * Types of installed packages that have none of their own, where the project does not name their `@types` package: those of
 * the suite and of our toolchain count, as they do where `node_modules` folders nest.
 *
 * They are found for imports alone. Nothing becomes global by being installed elsewhere.
 */
import path from "node:path";
import ts from "typescript";

/** The folder with our own node_modules. */
const OURS = path.resolve(path.dirname(ts.getDefaultLibFilePath({})), "..", "..", "..");
const JAVASCRIPT = new Set<string>([ts.Extension.Js, ts.Extension.Jsx, ts.Extension.Mjs, ts.Extension.Cjs]);

/** Whether an import leads to JavaScript without types. */
export function isUntyped({ resolvedModule }: ts.ResolvedModuleWithFailedLookupLocations): boolean {
  return resolvedModule?.isExternalLibraryImport === true && JAVASCRIPT.has(resolvedModule.extension);
}

function isOfTypes({ resolvedModule }: ts.ResolvedModuleWithFailedLookupLocations): boolean {
  return resolvedModule?.resolvedFileName.includes("/node_modules/@types/") === true;
}

export type Resolver = NonNullable<ts.CompilerHost["resolveModuleNameLiterals"]>;

/** Resolves imports as TypeScript does; `folders` have a node_modules each, and the first that has types counts. */
export function moduleResolver(
  host: ts.CompilerHost,
  options: ts.CompilerOptions,
  folders: readonly string[],
): Resolver {
  const names = (file: string): string => host.getCanonicalFileName(file);
  const cache = ts.createModuleResolutionCache(host.getCurrentDirectory(), names, options);
  return (literals, containing, redirected, _options, source) =>
    literals.map((literal) => {
      const mode = ts.getModeForUsageLocation(source, literal, options);
      const resolve = (from: string): ts.ResolvedModuleWithFailedLookupLocations =>
        ts.resolveModuleName(literal.text, from, options, host, cache, redirected, mode);
      const found = resolve(containing);
      if (!isUntyped(found)) return found;
      return [...folders, OURS].map((folder) => resolve(path.join(folder, "types.ts"))).find(isOfTypes) ?? found;
    });
}
