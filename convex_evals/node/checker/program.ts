/** The TypeScript programs of a project, and which program judges which file. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { isScript, shownPath } from "../push/project_fs.ts";
import { functionsFolder, isJavaScript, typescriptFiles } from "./files.ts";
import { projectHost, projectSystem } from "./host.ts";
import { STRICT, runningFiles, type RunningFiles, type Terms } from "./terms.ts";
import { readSettings, seededSettings, seededTsconfig, type Settings } from "./tsconfig.ts";

/** A program with the files that are judged by it; every file of a project is judged once. */
export interface JudgedProgram {
  program: ts.Program;
  judged: ts.SourceFile[];
  /** Where a file says that it is not to be checked (`@ts-nocheck`); it is checked all the same. */
  switchedOff: { source: ts.SourceFile; start: number }[];
  errors: ts.Diagnostic[];
}

/** All that is known of a project for checking; paths are absolute and real. */
export interface CheckedProject {
  root: string;
  functions: string;
  running: RunningFiles;
  programs: JudgedProgram[];
  /** The tsconfig file that the options of a program come from; none for seeded ones. */
  settingsOf: ReadonlyMap<ts.Program, string>;
  repairs: string[];
  /** What repaired and seeded tsconfig files say, by path in the project. */
  repaired: Record<string, object>;
}

interface Plan {
  settings: Settings;
  files: Set<string>;
}

/** What is needed to read a project's settings. */
interface Place {
  root: string;
  functions: string;
  system: ts.System;
  strict: boolean;
}

/** A root tsconfig that only points at others (Vite's template): the one that covers `files` counts. */
function referencedSettings(
  { root, system, strict }: Place,
  settings: Settings,
  files: string[],
): Settings | undefined {
  const covered = new Set(files);
  return settings.references
    .filter((file) => system.fileExists(file))
    .map((file) => readSettings(root, file, system, strict))
    .find((candidate) => candidate.files.some((file) => covered.has(file)));
}

function rootSettings(place: Place, folder: string, files: string[]): Settings {
  const { root, functions, system, strict } = place;
  const file = path.join(root, "tsconfig.json");
  if (!system.fileExists(file)) return seededTsconfig(shownPath(root, functions));
  const settings = readSettings(root, file, system, strict);
  if (settings.files.length > 0 || settings.references.length === 0) return settings;
  const referenced = referencedSettings(place, settings, files);
  return referenced ?? seededSettings(`a tsconfig that covers ${shownPath(root, folder)}/`);
}

/** The functions folder and what runs with it by its own tsconfig if it has one, the rest by the root's. */
function plan(place: Place, running: RunningFiles): Plan[] {
  const { root, functions, system, strict } = place;
  const runs = [...running.functions.keys()].filter(isScript);
  const functionFiles = [...new Set([...typescriptFiles(functions), ...runs])];
  const client = path.join(root, "src");
  const shown = [...new Set([...typescriptFiles(client), ...[...running.pages.keys()].filter(isScript)])];
  const sourceFiles = shown.filter((file) => !file.startsWith(functions + path.sep) && !running.functions.has(file));
  const own = path.join(functions, "tsconfig.json");
  const hasRoot = system.fileExists(path.join(root, "tsconfig.json"));
  const plans: Plan[] = [];
  const add = (settings: Settings, files: string[]): void => {
    const same = plans.find((known) => JSON.stringify(known.settings.options) === JSON.stringify(settings.options));
    if (same) {
      for (const file of files) same.files.add(file);
      same.settings.repairs.push(...settings.repairs);
      Object.assign(same.settings.repaired, settings.repaired);
    } else plans.push({ settings, files: new Set([...settings.files, ...files]) });
  };
  if (system.fileExists(own)) add(readSettings(root, own, system, strict), functionFiles);
  else if (functionFiles.length > 0) add(rootSettings(place, functions, functionFiles), functionFiles);
  if (sourceFiles.length > 0 || hasRoot) {
    const settings = rootSettings(place, client, sourceFiles);
    // With no source and nothing of its own, a solution-style root has nothing left to judge.
    if (sourceFiles.length > 0 || settings.files.length > 0 || settings.errors.length > 0) add(settings, sourceFiles);
  }
  return plans;
}

/** JavaScript that runs is checked like the rest, whatever the project's settings say. */
function checkJavaScript(plans: Plan[], running: RunningFiles): Plan[] {
  if (![...running.functions.keys(), ...running.pages.keys()].some(isJavaScript)) return plans;
  return plans.map(({ settings, files }) => ({
    files,
    settings: { ...settings, options: { ...settings.options, allowJs: true, checkJs: true } },
  }));
}

function createProgram(system: ts.System, { settings, files }: Plan, types: string[] = []): ts.Program {
  return ts.createProgram({
    rootNames: [...files].sort(),
    options: settings.options,
    host: projectHost(system, settings.options, types),
  });
}

function isOfProject(root: string, program: ts.Program, source: ts.SourceFile): boolean {
  return (
    source.fileName.startsWith(`${root}/`) &&
    !source.fileName.includes("/node_modules/") &&
    !program.isSourceFileFromExternalLibrary(source) &&
    !program.isSourceFileDefaultLibrary(source)
  );
}

/** JavaScript that does not run (configuration, mostly) is judged only where the project asks for it. */
function isWanted(file: string, running: RunningFiles): boolean {
  return !isJavaScript(file) || running.functions.has(file) || running.pages.has(file);
}

/** Files of the functions folder belong to the first program, all others to the last one that has them. */
function assign(
  root: string,
  functions: string,
  programs: ts.Program[],
  wants: (file: string, index: number) => boolean,
): ts.SourceFile[][] {
  const judged = programs.map((): ts.SourceFile[] => []);
  const taken = new Set<string>();
  const order = programs.map((_, index) => index);
  for (const index of order.toReversed()) {
    const program = programs[index]!;
    for (const source of program.getSourceFiles()) {
      const file = source.fileName;
      const belongsToFirst = file.startsWith(`${functions}/`) && index > 0 && programs[0]!.getSourceFile(file);
      if (!isOfProject(root, program, source) || taken.has(file) || belongsToFirst || !wants(file, index)) continue;
      taken.add(file);
      judged[index]!.push(source);
    }
  }
  return judged;
}

function switchOn(judged: ts.SourceFile[]): JudgedProgram["switchedOff"] {
  return judged.flatMap((source) => {
    // What TypeScript found of such comments, under whatever spelling; it has no public name.
    const switched = source as { checkJsDirective?: { enabled: boolean; pos: number } | undefined };
    if (switched.checkJsDirective?.enabled !== false) return [];
    const start = switched.checkJsDirective.pos;
    switched.checkJsDirective = undefined;
    return [{ source, start }];
  });
}

let last: { project: CheckedProject; terms: string; version: string } | undefined;

/** Changes whenever a file changes that the programs were made from. */
function versionOf({ root, functions, programs }: CheckedProject): string {
  const configurations = readdirSync(root).filter((name) => name.endsWith(".json"));
  const files = new Set([
    ...programs.flatMap(({ judged }) => judged.map((source) => source.fileName)),
    ...typescriptFiles(functions),
    ...typescriptFiles(path.join(root, "src")),
    ...configurations.map((name) => path.join(root, name)),
    path.join(functions, "tsconfig.json"),
  ]);
  return [...files]
    .sort()
    .map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return `${file}:${stats?.ino}:${stats?.mtimeMs}:${stats?.size}`;
    })
    .join("\n");
}

function makePrograms(root: string, terms: Terms): CheckedProject {
  const functions = functionsFolder(root);
  const running = runningFiles(root, terms);
  const system = projectSystem(root);
  const own = plan({ root, functions, system, strict: terms.strict }, running);
  const plans = checkJavaScript(own, running);
  const programs = plans.map((each) => createProgram(system, each, terms.types));
  const judged = assign(
    root,
    functions,
    programs,
    (file, index) => plans === own || own[index]!.settings.options.checkJs === true || isWanted(file, running),
  );
  return {
    root,
    functions,
    running,
    programs: plans.map(({ settings }, index) => ({
      program: programs[index]!,
      judged: judged[index]!,
      switchedOff: switchOn(judged[index]!),
      errors: settings.errors,
    })),
    settingsOf: new Map(
      plans.flatMap(({ settings }, index) => (settings.file === null ? [] : [[programs[index]!, settings.file]])),
    ),
    repairs: [...new Set(plans.flatMap(({ settings }) => settings.repairs))],
    repaired: Object.assign({}, ...plans.map(({ settings }) => settings.repaired)) as CheckedProject["repaired"],
  };
}

/** The programs of a project; those of the project asked for last are kept, since lint follows the type check. */
export function programsOf(projectDir: string, terms: Terms = STRICT): CheckedProject {
  const root = realpathSync(projectDir);
  const key = JSON.stringify(terms);
  if (last && last.project.root === root && last.terms === key && last.version === versionOf(last.project)) {
    return last.project;
  }
  last = undefined;
  const project = makePrograms(root, terms);
  last = { project, terms: key, version: versionOf(project) };
  return project;
}
