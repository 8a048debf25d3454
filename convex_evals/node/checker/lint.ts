/** Lint of one project, on the same TypeScript programs as its type check. */
import { createRequire } from "node:module";
import path from "node:path";
import type { ESLint } from "eslint";
// The linter without what finds files and settings, which takes as long to load.
import { Linter } from "eslint/universal";
import { parser, plugin } from "typescript-eslint";
import type ts from "typescript";
import { withoutHostPaths } from "../push/host_paths.ts";
import { functionsFolder, shownPath, typescriptFiles } from "./files.ts";
import { programsOf, type CheckedProject } from "./program.ts";
import { RULES, type Scope } from "./rules.ts";

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
      files: ["**/*.ts", "**/*.tsx", "**/*.mts", "**/*.cts"],
      languageOptions: { ...LANGUAGE, parserOptions: { programs: [program] } },
      // Comments of the graded project must not switch off what judges it.
      linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: "off" },
      plugins,
      rules,
    },
  ];
}

/** The author's own TypeScript: the functions folder and `src/`, without generated code and declarations. */
export function lintedFiles({ root, functions }: CheckedProject): string[] {
  const files = [...typescriptFiles(functions), ...typescriptFiles(path.join(root, "src"))];
  return [...new Set(files)].filter((file) => !file.includes("/_generated/") && !/\.d\.[mc]?ts$/.test(file));
}

function lintFile(linter: Linter, project: CheckedProject, file: string): LintProblem[] {
  const owner = project.programs.find(({ judged }) => judged.some((source) => source.fileName === file));
  const source = owner?.program.getSourceFile(file);
  if (!owner || !source) return [];
  const config = file.startsWith(`${functionsFolder(project.root)}/`)
    ? configFor(owner.program, FUNCTION_RULES, FUNCTION_PLUGINS)
    : configFor(owner.program, CLIENT_RULES, clientPlugins());
  const messages = linter.verify(source.text, config, { filename: file });
  // Warnings are ESLint's own, about comments that have no effect here.
  return messages.filter(({ severity }) => severity === 2).map((message) => ({
    file: shownPath(project.root, file),
    line: message.line,
    column: message.column,
    rule: message.ruleId ?? "syntax",
    message: withoutHostPaths(project.root, message.message),
  }));
}

/** Applies the kept rules of `rules.ts` to a project. */
export function lint(projectDir: string): LintResult {
  const project = programsOf(projectDir);
  const linter = new Linter({ cwd: project.root, configType: "flat" });
  const problems = lintedFiles(project).flatMap((file) => lintFile(linter, project, file));
  return { ok: problems.length === 0, problems: problems.slice(0, MAX_PROBLEMS) };
}
