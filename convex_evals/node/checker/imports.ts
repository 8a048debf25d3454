/**
 * Whether what was checked is what runs: every file of a bundle is judged, and what TypeScript takes an import for is what the
 * bundle took. The two resolve imports by rules of their own, and a project has many ways to part them: `paths`, declaration
 * files and modules, two files of one name, conditions and fields of package.json.
 */
import path from "node:path";
import ts from "typescript";
import { packageOf } from "../push/bundled.ts";
import { isScript, shownPath } from "../push/project_fs.ts";
import { isGenerated } from "./files.ts";
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
  if (target.startsWith("node_modules/")) {
    return packaged === target || packaged?.startsWith("node_modules/@types/") === true;
  }
  const file = path.posix.join(root, target);
  if (isGenerated(target)) {
    return isGenerated(shownPath(root, declared)) && withoutSuffix(file) === withoutSuffix(declared);
  }
  return file === declared || !isScript(target);
}

function differingImports(
  root: string,
  { program }: JudgedProgram,
  source: ts.SourceFile,
  imports: ReadonlyMap<string, readonly string[]>,
): UncheckedCode[] {
  const checker = program.getTypeChecker();
  // Every specifier of a file, in imports, exports and calls, has no public name.
  const { imports: specifiers = [] } = source as { imports?: readonly ts.StringLiteralLike[] };
  const file = shownPath(root, source.fileName);
  return specifiers.flatMap((node) => {
    const declared = checker.getSymbolAtLocation(node)?.declarations?.[0]?.getSourceFile().fileName;
    const target =
      declared === undefined ? undefined : imports.get(node.text)?.find((each) => !agree(root, each, declared));
    if (declared === undefined || target === undefined) return [];
    const shown = packageOf(declared) ?? shownPath(root, declared);
    return [
      {
        file,
        source,
        start: node.getStart(source),
        message: `'${node.text}' is ${target} where it runs, and ${shown} for TypeScript: they must be the same`,
      },
    ];
  });
}

function unjudged(root: string, running: Imports, judged: ReadonlySet<string>): UncheckedCode[] {
  return [...running.keys()]
    .filter((file) => !judged.has(file) && !DATA.test(file))
    .map((file) => ({
      file: shownPath(root, file),
      message: "runs, but is no source file that TypeScript checks: only what is checked may run",
    }));
}

const FROM_TEXT = new Set(["eval", "Function"]);

/** Whether `node` names the global that makes code of text, by whatever way it was reached. */
function makesCode({ program }: JudgedProgram, node: ts.Node): boolean {
  if (!(ts.isIdentifier(node) || ts.isStringLiteralLike(node)) || !FROM_TEXT.has(node.text)) return false;
  const types = program.getTypeChecker();
  const symbol = ts.isShorthandPropertyAssignment(node.parent)
    ? types.getShorthandAssignmentValueSymbol(node.parent)
    : types.getSymbolAtLocation(node);
  return symbol?.declarations?.some((each) => program.isSourceFileDefaultLibrary(each.getSourceFile())) === true;
}

/** The text that a specifier begins with, where some of it is known: esbuild takes in every file that it may become. */
function knownStart(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) return node.head.text;
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken
    ? knownStart(node.left)
    : "";
}

/** Whether `node` imports what is computed, so that nobody can know what it loads. */
function importsUnknown({ program }: JudgedProgram, node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || node.arguments[0] === undefined) return false;
  const [specifier] = node.arguments;
  if (node.expression.kind !== ts.SyntaxKind.ImportKeyword) {
    if (!ts.isIdentifier(node.expression) || node.expression.text !== "require") return false;
    const declared = program.getTypeChecker().getSymbolAtLocation(node.expression)?.valueDeclaration;
    if (declared && ts.isFunctionDeclaration(declared) && declared.body) return false;
  }
  return !ts.isStringLiteralLike(specifier) && !/^\.\.?\//.test(knownStart(specifier));
}

function codeOfTexts(root: string, program: JudgedProgram, source: ts.SourceFile): UncheckedCode[] {
  const found: UncheckedCode[] = [];
  const add = (node: ts.Node, message: string): void =>
    void found.push({ file: shownPath(root, source.fileName), source, start: node.getStart(source), message });
  const visit = (node: ts.Node): void => {
    const isType =
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node));
    if (isType) return;
    if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword &&
      ts.isIdentifier(node.right)
    ) {
      return visit(node.left);
    }
    if (makesCode(program, node)) add(node, "makes code of text, which nothing checks: only what is checked may run");
    if (importsUnknown(program, node)) {
      add(node, "imports what is computed, so that nothing can check it: write the name as a text");
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** All that runs in a project and is not what was checked. */
export function uncheckedCode({ root, running, programs }: CheckedProject): UncheckedCode[] {
  // A declaration file holds no code for TypeScript, whatever is in it; bundlers take it for what it is.
  const sources = programs.flatMap((each) => each.judged).filter((source) => !source.isDeclarationFile);
  const judged = new Set(sources.map((source) => source.fileName));
  const texts = programs.flatMap((each) =>
    each.judged
      .filter(
        ({ fileName, isDeclarationFile }) =>
          !isDeclarationFile && (running.functions.has(fileName) || running.pages.has(fileName)),
      )
      .flatMap((source) => codeOfTexts(root, each, source)),
  );
  const unchecked = [running.functions, running.pages].flatMap((imports) => [
    ...unjudged(root, imports, judged),
    ...programs.flatMap((each) =>
      each.judged.flatMap((source) => {
        const taken = imports.get(source.fileName);
        return taken === undefined ? [] : differingImports(root, each, source, taken);
      }),
    ),
  ]);
  return [...unchecked, ...texts];
}
