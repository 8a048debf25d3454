/** The type check of one project. */
import ts from "typescript";
import { withoutHostPaths } from "../push/host_paths.ts";
import { shownPath } from "./files.ts";
import { programsOf, type JudgedProgram } from "./program.ts";

/** One compiler error; `line` and `column` count from 1 and are null where the error belongs to no place. */
export interface TypeProblem {
  file: string | null;
  line: number | null;
  column: number | null;
  code: string;
  message: string;
}

/** `files` counts the project's own files that were judged. */
export interface TypecheckResult {
  ok: boolean;
  repairs: string[];
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
  if (!file || start === undefined) return { file: file ? shownPath(root, file.fileName) : null, line: null, column: null, ...base };
  const { line, character } = ts.getLineAndCharacterOfPosition(file, start);
  return { file: shownPath(root, file.fileName), line: line + 1, column: character + 1, ...base };
}

function diagnosticsOf({ program, judged, errors }: JudgedProgram): ts.Diagnostic[] {
  return [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...judged.flatMap((source) => [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]),
  ].filter((diagnostic) => diagnostic.category === ts.DiagnosticCategory.Error);
}

/** Checks every file of a project with the settings that the project gives for it. */
export function typecheck(projectDir: string): TypecheckResult {
  const { root, programs, repairs } = programsOf(projectDir);
  const found = new Map<string, TypeProblem>();
  for (const each of programs) {
    for (const diagnostic of diagnosticsOf(each)) {
      const problem = toProblem(root, diagnostic);
      found.set(JSON.stringify(problem), problem);
    }
  }
  const place = (problem: TypeProblem) => [problem.file ?? "", problem.line ?? 0, problem.column ?? 0, problem.code] as const;
  const diagnostics = [...found.values()].sort((a, b) => {
    const [left, right] = [place(a), place(b)];
    const at = left.findIndex((part, index) => part !== right[index]);
    return at === -1 ? 0 : left[at]! < right[at]! ? -1 : 1;
  });
  return {
    ok: diagnostics.length === 0,
    repairs,
    diagnostics: diagnostics.slice(0, MAX_PROBLEMS),
    files: programs.reduce((sum, { judged }) => sum + judged.length, 0),
  };
}
