/**
 * Whether what was checked is what runs: every file of a bundle is judged, and what TypeScript takes an import for is what the
 * bundle took. The two resolve imports by rules of their own, and a project has many ways to part them: `paths`, declaration
 * files and modules, two files of one name, conditions and fields of package.json.
 */
import path from "node:path";
import ts from "typescript";
import { packageOf } from "../push/bundled.ts";
import { isScript } from "../push/pages.ts";
import { isGenerated, shownPath } from "./files.ts";
import type { CheckedProject, JudgedProgram } from "./program.ts";
import type { Imports } from "./terms.ts";

/** Something that runs without being checked; `start` is a position in `source`. */
export interface UncheckedCode {
  file: string;
  source?: ts.SourceFile;
  start?: number;
  message: string;
}

/** What a bundle may hold besides code. */
const DATA = /\.(json|txt|css)$/;

function withoutSuffix(file: string): string {
  return file.replace(/(\.d)?\.[mc]?[jt]sx?$/, "");
}

/** Whether types from `declared` are those of `target`, which is a file of the project or a package. */
function agree(root: string, target: string, declared: string): boolean {
  const packaged = packageOf(declared);
  if (target.startsWith("node_modules/")) return packaged === target || packaged?.startsWith("node_modules/@types/") === true;
  const file = path.posix.join(root, target);
  if (isGenerated(target)) return isGenerated(shownPath(root, declared)) && withoutSuffix(file) === withoutSuffix(declared);
  return file === declared || !isScript(target);
}

function differingImports(root: string, { program }: JudgedProgram, source: ts.SourceFile, imports: ReadonlyMap<string, readonly string[]>): UncheckedCode[] {
  const checker = program.getTypeChecker();
  // Every specifier of a file, in imports, exports and calls, has no public name.
  const { imports: specifiers = [] } = source as { imports?: readonly ts.StringLiteralLike[] };
  const file = shownPath(root, source.fileName);
  return specifiers.flatMap((node) => {
    const declared = checker.getSymbolAtLocation(node)?.declarations?.[0]?.getSourceFile().fileName;
    const target = declared === undefined ? undefined : imports.get(node.text)?.find((each) => !agree(root, each, declared));
    if (declared === undefined || target === undefined) return [];
    const shown = packageOf(declared) ?? shownPath(root, declared);
    return [{ file, source, start: node.getStart(source), message: `'${node.text}' is ${target} where it runs, and ${shown} for TypeScript: they must be the same` }];
  });
}

function unjudged(root: string, running: Imports, judged: ReadonlySet<string>): UncheckedCode[] {
  return [...running.keys()]
    .filter((file) => !judged.has(file) && !DATA.test(file))
    .map((file) => ({ file: shownPath(root, file), message: "runs, but is no source file that TypeScript checks: only what is checked may run" }));
}

/** All that runs in a project and is not what was checked. */
export function uncheckedCode({ root, running, programs }: CheckedProject): UncheckedCode[] {
  // A declaration file holds no code for TypeScript, whatever is in it; bundlers take it for what it is.
  const sources = programs.flatMap((each) => each.judged).filter((source) => !source.isDeclarationFile);
  const judged = new Set(sources.map((source) => source.fileName));
  return [running.functions, running.pages].flatMap((imports) => [
    ...unjudged(root, imports, judged),
    ...programs.flatMap((each) =>
      each.judged.flatMap((source) => {
        const taken = imports.get(source.fileName);
        return taken === undefined ? [] : differingImports(root, each, source, taken);
      }),
    ),
  ]);
}
