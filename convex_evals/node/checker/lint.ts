/** Lint of one project, on the same TypeScript programs as its type check. */
import { createRequire } from "node:module";
import path from "node:path";
import type { ESLint } from "eslint";
// The linter without what finds files and settings, which takes as long to load.
import { Linter } from "eslint/universal";
import { parser, plugin } from "typescript-eslint";
import type ts from "typescript";
import { withoutHostPaths } from "../push/host_paths.ts";
import { isScript, shownPath } from "../push/project_fs.ts";
import { isGenerated, typescriptFiles } from "./files.ts";
import { programsOf, type CheckedProject } from "./program.ts";
import { RULES, type Scope } from "./rules.ts";
import { STRICT, type Terms } from "./terms.ts";
import { untypedCalls } from "./untyped_calls.ts";

/** One finding; `line` and `column` count from 1. `rule` is "syntax" where the file cannot be parsed. */
export interface LintProblem {
  file: string;
  line: number;
  column: number;
  rule: string;
  message: string;
}

export interface LintResult {
  ok: boolean;
  problems: LintProblem[];
}

/** A project with more findings than this learns nothing from the rest. */
const MAX_PROBLEMS = 200;

function rulesFor(...scopes: Scope[]): Linter.RulesRecord {
  return Object.fromEntries(
    RULES.filter(({ scope }) => scopes.includes(scope)).map(({ name, options = [] }) => [name, ["error", ...options]]),
  );
}

export const FUNCTION_RULES = rulesFor("everywhere", "functions");
export const CLIENT_RULES = rulesFor("everywhere", "client");

const NO_FLOATING = "@typescript-eslint/no-floating-promises";
const NO_SUPPRESSIONS = "@typescript-eslint/ban-ts-comment";
/** TypeScript's `CommentDirectiveType.Ignore`: it has no public name. */
const IGNORES = 1;

type Plugins = Record<string, ESLint.Plugin>;

const require = createRequire(import.meta.url);

// The plugins are typed against their own copies of ESLint's types.
const FUNCTION_PLUGINS = { "@typescript-eslint": plugin } as unknown as Plugins;

/** What the rules for clients come from. React's plugin brings a compiler: it is loaded with the first client. */
export function clientPlugins(): Plugins {
  return { ...FUNCTION_PLUGINS, "react-hooks": require("eslint-plugin-react-hooks") as ESLint.Plugin };
}

export const LANGUAGE = { parser: parser as unknown as Linter.Parser };

function configFor(program: ts.Program, rules: Linter.RulesRecord, plugins: Plugins): Linter.Config[] {
  return [
    {
      files: ["**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}"],
      languageOptions: { ...LANGUAGE, parserOptions: { programs: [program] } },
      // Comments of the graded project must not switch off what judges it.
      linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: "off" },
      plugins,
      rules,
    },
  ];
}

/** The author's own code: TypeScript of the functions folder and `src/`, and all that runs; without generated code and declarations. */
export function lintedFiles({ root, functions, running }: CheckedProject): string[] {
  const files = [
    ...typescriptFiles(functions),
    ...typescriptFiles(path.join(root, "src")),
    ...running.functions.keys(),
    ...running.pages.keys(),
  ];
  return [...new Set(files)].filter((file) => isScript(file) && !isGenerated(file));
}

/** Comments that hide errors from the compiler in a form that the rule does not know: which comments do, the compiler says. */
function unseenSuppressions(source: ts.SourceFile, found: Linter.LintMessage[]): Linter.LintMessage[] {
  const { commentDirectives = [] } = source as { commentDirectives?: { range: ts.TextRange; type: number }[] };
  const seen = found.filter(({ ruleId }) => ruleId === NO_SUPPRESSIONS);
  return commentDirectives
    .filter(({ type }) => type === IGNORES)
    .map(({ range }) => source.getLineAndCharacterOfPosition(range.pos))
    .filter(
      ({ line }) => !seen.some((problem) => problem.line <= line + 1 && line + 1 <= (problem.endLine ?? problem.line)),
    )
    .map(({ line, character }) => ({
      ruleId: NO_SUPPRESSIONS,
      severity: 2,
      line: line + 1,
      column: character + 1,
      message: "This comment hides errors from the type check.",
    }));
}

/** What the rule against floating promises cannot know in JavaScript. */
function untypedPromises(program: ts.Program, source: ts.SourceFile): Linter.LintMessage[] {
  return untypedCalls(program, source).map((call) => {
    const { line, character } = source.getLineAndCharacterOfPosition(call.getStart(source));
    return {
      ruleId: NO_FLOATING,
      severity: 2,
      line: line + 1,
      column: character + 1,
      message:
        "This call may give a promise, which nothing awaits: await it, or give the values that it is made on a type by a comment (`@param {import('./_generated/server').MutationCtx} ctx`).",
    };
  });
}

function lintFile(linter: Linter, project: CheckedProject, file: string): LintProblem[] {
  const owner = project.programs.find(({ judged }) => judged.some((source) => source.fileName === file));
  const source = owner?.program.getSourceFile(file);
  if (!owner || !source) return [];
  const isFunction = file.startsWith(`${project.functions}/`) || project.running.functions.has(file);
  const config = isFunction
    ? configFor(owner.program, FUNCTION_RULES, FUNCTION_PLUGINS)
    : configFor(owner.program, CLIENT_RULES, clientPlugins());
  const messages = linter.verify(source.text, config, { filename: file });
  // Warnings are ESLint's own, about comments that have no effect here.
  const found = messages.filter(({ severity }) => severity === 2);
  const unseen = [...unseenSuppressions(source, found), ...(isFunction ? untypedPromises(owner.program, source) : [])];
  return [...found, ...unseen].map((message) => ({
    file: shownPath(project.root, file),
    line: message.line,
    column: message.column,
    rule: message.ruleId ?? "syntax",
    message: withoutHostPaths(project.root, message.message),
  }));
}

/** Applies the kept rules of `rules.ts` to a project. */
export function lint(projectDir: string, terms: Terms = STRICT): LintResult {
  const project = programsOf(projectDir, terms);
  const linter = new Linter({ cwd: project.root, configType: "flat" });
  const problems = lintedFiles(project).flatMap((file) => lintFile(linter, project, file));
  return { ok: problems.length === 0, problems: problems.slice(0, MAX_PROBLEMS) };
}
