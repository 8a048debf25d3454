/**
 * What the TypeScript compiler may see of the machine, and the parsed library files that all projects share.
 *
 * Parsing and binding the declaration files of TypeScript, React and Convex is most of the cost of a type check; they
 * are the same files for every project, so they are kept by real path and version.
 */
import { statSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const LIB_FOLDER = path.dirname(ts.getDefaultLibFilePath({}));
const PACKAGES = "/node_modules/";
const posix = (file: string): string => file.split(path.sep).join("/");

/** Sets of compiler options whose library files are kept; more than a few means projects with exotic settings. */
const KEPT_OPTION_SETS = 4;

const libraries = new Map<string, Map<string, ts.SourceFile>>();

// Where files are and what is emitted has no influence on how a declaration file is parsed and bound.
const IRRELEVANT = new Set(["configFilePath", "pathsBasePath", "paths", "baseUrl", "types", "typeRoots", "rootDirs"]);

function optionSet(options: ts.CompilerOptions): Map<string, ts.SourceFile> {
  const key = JSON.stringify(
    Object.entries(options)
      .filter(([name]) => !IRRELEVANT.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const kept = libraries.get(key) ?? new Map<string, ts.SourceFile>();
  libraries.delete(key);
  libraries.set(key, kept);
  for (const oldest of libraries.keys()) {
    if (libraries.size <= KEPT_OPTION_SETS) break;
    libraries.delete(oldest);
  }
  return kept;
}

/** A system that shows the project (real path `root`), packages, and TypeScript's own library; nothing else exists. */
export function projectSystem(root: string): ts.System {
  const allowed = [posix(root), posix(LIB_FOLDER)];
  const known = new Map<string, boolean>();
  const within = (file: string): boolean => allowed.some((folder) => file === folder || file.startsWith(`${folder}/`));
  // A link inside the project may point anywhere, so the real path decides; packages are not the project's to link.
  const reallyWithin = (file: string): boolean => {
    const seen = known.get(file) ?? (within(file) && within(posix(ts.sys.realpath?.(file) ?? file)));
    known.set(file, seen);
    return seen;
  };
  const visible = (name: string): boolean => {
    const file = posix(path.resolve(name));
    return `${file}/`.includes(PACKAGES) || reallyWithin(file);
  };
  return {
    ...ts.sys,
    getCurrentDirectory: () => root,
    // Most files that are asked for do not exist, and asking that is cheaper than asking where they really are.
    fileExists: (file) => ts.sys.fileExists(file) && visible(file),
    readFile: (file, encoding) => (visible(file) ? ts.sys.readFile(file, encoding) : undefined),
    directoryExists: (folder) => ts.sys.directoryExists(folder) && visible(folder),
    getDirectories: (folder) => (visible(folder) ? ts.sys.getDirectories(folder) : []),
    readDirectory: (folder, extensions, exclude, include, depth) =>
      visible(folder) ? ts.sys.readDirectory(folder, extensions, exclude, include, depth).filter(visible) : [],
    writeFile: () => {},
  };
}

function versionOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats ? `${stats.mtimeMs}:${stats.size}` : "";
}

/** A compiler host on `system` whose library files come from the shared store. */
export function projectHost(system: ts.System, options: ts.CompilerOptions): ts.CompilerHost {
  // ESLint walks from nodes to their parents.
  const host = ts.createCompilerHost(options, true);
  const kept = optionSet(options);
  const parse = host.getSourceFile.bind(host);
  return {
    ...host,
    getCurrentDirectory: system.getCurrentDirectory,
    fileExists: system.fileExists,
    readFile: system.readFile,
    directoryExists: system.directoryExists,
    getDirectories: system.getDirectories,
    readDirectory: system.readDirectory,
    writeFile: () => {},
    getSourceFile(name, language, onError, renew) {
      const shared = name.includes(PACKAGES) || name.startsWith(`${posix(LIB_FOLDER)}/`);
      if (!shared) {
        return system.fileExists(name) ? parse(name, language, onError, renew) : undefined;
      }
      const format = typeof language === "object" ? (language.impliedNodeFormat ?? 0) : 0;
      const key = `${name}|${versionOf(name)}|${format}`;
      const known = kept.get(key);
      if (known) return known;
      const parsed = parse(name, language, onError, renew);
      if (parsed) kept.set(key, parsed);
      return parsed;
    },
  };
}
