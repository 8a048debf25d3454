/** The TypeScript programs of a project, and which program judges which file. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { functionsFolder, shownPath, typescriptFiles } from "./files.ts";
import { projectHost, projectSystem } from "./host.ts";
import { readSettings, seededSettings, type Settings } from "./tsconfig.ts";

/** A program with the files that are judged by it; every file of a project is judged once. */
export interface JudgedProgram {
  program: ts.Program;
  judged: ts.SourceFile[];
  errors: ts.Diagnostic[];
}

/** All that is known of a project for checking; paths are absolute and real. */
export interface CheckedProject {
  root: string;
  functions: string;
  programs: JudgedProgram[];
  repairs: string[];
}

interface Plan {
  settings: Settings;
  files: Set<string>;
}

/** A root tsconfig that only points at others (Vite's template): the one that covers `files` counts. */
function referencedSettings(root: string, settings: Settings, files: string[], system: ts.System): Settings | undefined {
  const covered = new Set(files);
  return settings.references
    .filter((file) => system.fileExists(file))
    .map((file) => readSettings(root, file, system))
    .find((candidate) => candidate.files.some((file) => covered.has(file)));
}

function rootSettings(root: string, folder: string, files: string[], system: ts.System): Settings {
  const file = path.join(root, "tsconfig.json");
  if (!system.fileExists(file)) return seededSettings("tsconfig.json");
  const settings = readSettings(root, file, system);
  if (settings.files.length > 0 || settings.references.length === 0) return settings;
  const referenced = referencedSettings(root, settings, files, system);
  return referenced ?? seededSettings(`a tsconfig that covers ${shownPath(root, folder)}/`);
}

/** The functions folder by its own tsconfig if it has one, the rest by the root's. */
function plan(root: string, functions: string, system: ts.System): Plan[] {
  const functionFiles = typescriptFiles(functions);
  const client = path.join(root, "src");
  const sourceFiles = typescriptFiles(client).filter((file) => !file.startsWith(functions + path.sep));
  const own = path.join(functions, "tsconfig.json");
  const hasRoot = system.fileExists(path.join(root, "tsconfig.json"));
  const plans: Plan[] = [];
  const add = (settings: Settings, files: string[]): void => {
    const same = plans.find(
      (known) => JSON.stringify(known.settings.options) === JSON.stringify(settings.options),
    );
    if (same) for (const file of files) same.files.add(file);
    else plans.push({ settings, files: new Set([...settings.files, ...files]) });
  };
  if (system.fileExists(own)) add(readSettings(root, own, system), functionFiles);
  else if (functionFiles.length > 0) add(rootSettings(root, functions, functionFiles, system), functionFiles);
  if (sourceFiles.length > 0 || hasRoot) {
    const settings = rootSettings(root, client, sourceFiles, system);
    // With no source and nothing of its own, a solution-style root has nothing left to judge.
    if (sourceFiles.length > 0 || settings.files.length > 0 || settings.errors.length > 0) add(settings, sourceFiles);
  }
  return plans;
}

function createProgram(system: ts.System, { settings, files }: Plan): ts.Program {
  return ts.createProgram({
    rootNames: [...files].sort(),
    options: settings.options,
    host: projectHost(system, settings.options),
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

/** Files of the functions folder belong to the first program, all others to the last one that has them. */
function assign(root: string, functions: string, programs: ts.Program[]): ts.SourceFile[][] {
  const judged = programs.map((): ts.SourceFile[] => []);
  const taken = new Set<string>();
  const order = programs.map((_, index) => index);
  for (const index of order.toReversed()) {
    const program = programs[index]!;
    for (const source of program.getSourceFiles()) {
      const file = source.fileName;
      const belongsToFirst = file.startsWith(`${functions}/`) && index > 0 && programs[0]!.getSourceFile(file);
      if (!isOfProject(root, program, source) || taken.has(file) || belongsToFirst) continue;
      taken.add(file);
      judged[index]!.push(source);
    }
  }
  return judged;
}

let last: { project: CheckedProject; version: string } | undefined;

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

/** The programs of a project; those of the project asked for last are kept, since lint follows the type check. */
export function programsOf(projectDir: string): CheckedProject {
  const root = realpathSync(projectDir);
  if (last && last.project.root === root && last.version === versionOf(last.project)) return last.project;
  last = undefined;
  const functions = functionsFolder(root);
  const system = projectSystem(root);
  const plans = plan(root, functions, system);
  const programs = plans.map((each) => createProgram(system, each));
  const judged = assign(root, functions, programs);
  const project: CheckedProject = {
    root,
    functions,
    programs: plans.map(({ settings }, index) => ({
      program: programs[index]!,
      judged: judged[index]!,
      errors: settings.errors,
    })),
    repairs: [...new Set(plans.flatMap(({ settings }) => settings.repairs))],
  };
  last = { project, version: versionOf(project) };
  return project;
}
