/** The type check of one project. */
import { isBuiltin } from "node:module";
import path from "node:path";
import ts from "typescript";
import { withoutHostPaths } from "../push/host_paths.ts";
import { shownPath } from "../push/project_fs.ts";
import { otherSettings } from "./emit_settings.ts";
import { isJavaScript, isSettings } from "./files.ts";
import { uncheckedCode, type UncheckedCode } from "./imports.ts";
import { programsOf, type JudgedProgram } from "./program.ts";
import { STRICT, type Terms } from "./terms.ts";

/** One error; `line` and `column` count from 1 and are null where it belongs to no place. `code` is the compiler's, or "unchecked". */
export interface TypeProblem {
  file: string | null;
  line: number | null;
  column: number | null;
  code: string;
  message: string;
}

/** `files` counts the project's own files that were judged; `repaired` has the texts of the tsconfig files that were repaired or seeded. */
export interface TypecheckResult {
  ok: boolean;
  repairs: string[];
  repaired: Record<string, string>;
  diagnostics: TypeProblem[];
  files: number;
}

/** A project with more errors than this learns nothing from the rest. */
const MAX_PROBLEMS = 200;
/** Characters of a message. A longer one loses its middle: TypeScript ends with what does not fit. */
const MAX_MESSAGE = 2000;

function shortened(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  const kept = MAX_MESSAGE / 2;
  return `${message.slice(0, kept)}\n…\n${message.slice(-kept)}`;
}

export function toProblem(root: string, diagnostic: ts.Diagnostic): TypeProblem {
  const text = withoutHostPaths(root, ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
  const base = { code: `TS${diagnostic.code}`, message: shortened(text) };
  const { file, start } = diagnostic;
  if (!file || start === undefined) {
    return { file: file ? shownPath(root, file.fileName) : null, line: null, column: null, ...base };
  }
  const { line, character } = ts.getLineAndCharacterOfPosition(file, start);
  return { file: shownPath(root, file.fileName), line: line + 1, column: character + 1, ...base };
}

/** JavaScript has no place for types: that something has none is no error there. */
function isMissingType({ file, code }: ts.Diagnostic): boolean {
  return file !== undefined && isJavaScript(file.fileName) && code >= 7000 && code < 8000;
}

const NODE_NAMES = new Set(["__dirname", "__filename"]);
/** "Cannot find name": one that Node.js has, of which TypeScript says so. */
const NODE_NAME_ERRORS = new Set([2580, 2591]);

/**
 * Settings of tools are run by Node.js, and its types need not be installed for that: vitest does without. That a name or module
 * of Node.js is not known is no error in settings at the root.
 */
function isMissingNode(root: string, { file, start, length, code }: ts.Diagnostic): boolean {
  if (!file || start === undefined || path.dirname(file.fileName) !== root || !isSettings(file.fileName)) return false;
  const named = file.text.slice(start, start + (length ?? 0)).replace(/^["'`]|["'`]$/g, "");
  if (code === 2307) return isBuiltin(named);
  return NODE_NAME_ERRORS.has(code) || (code === 2304 && NODE_NAMES.has(named));
}

/** The errors of a program and of the files that it judges. */
export function diagnosticsOf({ program, judged, errors }: JudgedProgram): ts.Diagnostic[] {
  return [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...judged.flatMap((source) => [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ]),
  ].filter((diagnostic) => diagnostic.category === ts.DiagnosticCategory.Error && !isMissingType(diagnostic));
}

function toUnchecked(root: string, { file, source, start, message }: UncheckedCode): TypeProblem {
  const base = { code: "unchecked", message: shortened(withoutHostPaths(root, message)) };
  if (!source || start === undefined) return { file, line: null, column: null, ...base };
  const { line, character } = ts.getLineAndCharacterOfPosition(source, start);
  return { file: shownPath(root, source.fileName), line: line + 1, column: character + 1, ...base };
}

/** By file and place, each once. */
export function ordered(problems: TypeProblem[]): TypeProblem[] {
  const place = ({ file, line, column, code }: TypeProblem) => [file ?? "", line ?? 0, column ?? 0, code] as const;
  const once = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...once.values()].sort((a, b) => {
    const [left, right] = [place(a), place(b)];
    const at = left.findIndex((part, index) => part !== right[index]);
    return at === -1 ? 0 : left[at]! < right[at]! ? -1 : 1;
  });
}

/** Checks every file of a project that runs, strictly unless `terms` say otherwise, and the rest with the settings that the project gives for it. */
export function typecheck(projectDir: string, terms: Terms = STRICT): TypecheckResult {
  const project = programsOf(projectDir, terms);
  const { root, programs, repairs } = project;
  const found: TypeProblem[] = [];
  for (const each of programs) {
    for (const { source, start } of each.switchedOff) {
      found.push(
        toUnchecked(root, {
          file: source.fileName,
          source,
          start,
          message: "@ts-nocheck: a file cannot switch its type check off",
        }),
      );
    }
    for (const diagnostic of diagnosticsOf(each)) {
      if (!isMissingNode(root, diagnostic)) found.push(toProblem(root, diagnostic));
    }
  }
  for (const code of [...uncheckedCode(project), ...otherSettings(project)]) found.push(toUnchecked(root, code));
  const diagnostics = ordered(found);
  return {
    ok: diagnostics.length === 0,
    repairs,
    repaired: Object.fromEntries(
      Object.entries(project.repaired).map(([file, said]) => [file, `${JSON.stringify(said, null, 2)}\n`]),
    ),
    diagnostics: diagnostics.slice(0, MAX_PROBLEMS),
    files: programs.reduce((sum, { judged }) => sum + judged.length, 0),
  };
}
