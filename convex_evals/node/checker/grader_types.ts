/**
 * The type check of a suite's graders: by the tsconfig that its author's editor takes, with packages from where the tester
 * takes them. Answers are projects; their own types are checked where they are graded.
 */
import { realpathSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { isBare, LIBRARY, libraryFile, packageName, toolchain } from "../tester/resolution.ts";
import { shownPath } from "../push/project_fs.ts";
import { projectHost, projectSystem } from "./host.ts";
import { readSettings, seededSettings, type Settings } from "./tsconfig.ts";
import { isUntyped, type Resolver } from "./type_packages.ts";
import { diagnosticsOf, ordered, toProblem, type TypeProblem } from "./typecheck.ts";

/** Part of a path: what a candidate could have written is no grader. */
const ANSWER = /^evals\/[^/]+\/[^/]+\/answer\//;

interface Place {
  suite: string;
  system: ts.System;
  /** Folders with a node_modules each, for what the suite itself does not have. */
  sources: string[];
}

/** The nearest tsconfig.json that covers `grader`, as an editor finds it; undefined where none does. */
function settingsFor(grader: string, { suite, system }: Place, read: (file: string) => Settings): Settings | undefined {
  for (let folder = path.dirname(grader); ; folder = path.dirname(folder)) {
    const file = path.join(folder, "tsconfig.json");
    const settings = system.fileExists(file) ? read(file) : undefined;
    // What cannot be read may be meant to cover it, and is not to pass for absent.
    if (settings && (settings.files.includes(grader) || settings.errors.length > 0)) return settings;
    const referenced = settings?.references
      .filter((reference) => system.fileExists(reference))
      .map(read)
      .find(({ files }) => files.includes(grader));
    if (referenced) return referenced;
    if (folder === suite) return undefined;
  }
}

/** Graders by the settings that they are checked with. */
function grouped(graders: string[], place: Place): Map<Settings, string[]> {
  const known = new Map<string, Settings>();
  const read = (file: string): Settings => {
    const settings = known.get(file) ?? readSettings(place.suite, file, place.system, false);
    known.set(file, settings);
    return settings;
  };
  const defaults = seededSettings("tsconfig.json");
  const groups = new Map<Settings, string[]>();
  for (const grader of graders) {
    const settings = settingsFor(grader, place, read) ?? defaults;
    groups.set(settings, [...(groups.get(settings) ?? []), grader]);
  }
  return groups;
}

/** Types that are global for graders: what the settings say, and Node's, which runs them. */
function withGlobalTypes(options: ts.CompilerOptions, { system, sources }: Place): ts.CompilerOptions {
  const automatic = ts.getAutomaticTypeDirectiveNames(options, {
    ...system,
    getCurrentDirectory: system.getCurrentDirectory,
  });
  const own = ts.getEffectiveTypeRoots(options, system) ?? [];
  return {
    ...options,
    types: [...new Set([...automatic, "node"])],
    typeRoots: [...own, ...sources.map((folder) => path.join(folder, "node_modules", "@types"))],
    allowImportingTsExtensions: true,
    noEmit: true,
  };
}

/** Resolves as the tester does: the grader library and vitest are ours, and what the suite does not have is in `sources`. */
function graderResolver(host: ts.CompilerHost, options: ts.CompilerOptions, sources: string[]): Resolver {
  const names = (file: string): string => host.getCanonicalFileName(file);
  const cache = ts.createModuleResolutionCache(host.getCurrentDirectory(), names, options);
  return (literals, containing, redirected, _options, source) =>
    literals.map((literal) => {
      const { text } = literal;
      const mode = ts.getModeForUsageLocation(source, literal, options);
      const resolve = (from: string, specifier = text): ts.ResolvedModuleWithFailedLookupLocations =>
        ts.resolveModuleName(specifier, from, options, host, cache, redirected, mode);
      if (containing.includes("/node_modules/") || !isBare(text)) return resolve(containing);
      if (text === LIBRARY) return resolve(containing, libraryFile);
      const elsewhere = sources.map((folder) => path.join(folder, "grader.ts"));
      const places = packageName(text) === "vitest" ? elsewhere.toReversed() : [containing, ...elsewhere];
      const found: ts.ResolvedModuleWithFailedLookupLocations[] = [];
      for (const from of places) {
        const each = resolve(from);
        if (each.resolvedModule && !isUntyped(each)) return each;
        if (each.resolvedModule) found.push(each);
      }
      return found[0] ?? resolve(containing);
    });
}

function problemsOf(settings: Settings, graders: string[], place: Place): ts.Diagnostic[] {
  const options = withGlobalTypes(settings.options, place);
  const host = projectHost(place.system, options, []);
  host.resolveModuleNameLiterals = graderResolver(host, options, place.sources);
  const program = ts.createProgram({ rootNames: graders, options, host });
  const judged = program.getSourceFiles().filter(({ fileName }) => {
    const shown = shownPath(place.suite, fileName);
    return !shown.startsWith("..") && !shown.includes("node_modules/") && !ANSWER.test(shown);
  });
  return diagnosticsOf({ program, judged, switchedOff: [], errors: settings.errors });
}

/**
 * What is wrong with the types of graders, and of the suite's files that they import.
 *
 * @param suiteDir root of the suite
 * @param files grader files, absolute or relative to the suite
 * @param packages folders with a node_modules each, which are asked for packages after the suite and before ours
 */
export function checkGraderTypes(suiteDir: string, files: string[], packages: string[]): TypeProblem[] {
  const suite = realpathSync(suiteDir);
  const system = projectSystem(suite, [path.dirname(libraryFile)]);
  const place = { suite, system, sources: [...packages, ...toolchain] };
  const graders = files.map((file) => path.resolve(suite, file));
  const found = [...grouped(graders, place)].flatMap(([settings, group]) => problemsOf(settings, group, place));
  return ordered(found.map((diagnostic) => toProblem(suite, diagnostic)));
}
