/**
 * What the TypeScript compiler may see of the machine, and the parsed library files that all projects share.
 *
 * Parsing and binding the declaration files of TypeScript, React and Convex is most of the cost of a type check; they
 * are the same files for every project, so they are kept by path and version. What TypeScript makes of a declaration file
 * depends on none of a project's options and files, but for the format of modules that its package has.
 */
import { statSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { posix } from "../push/project_fs.ts";
import { moduleResolver } from "./type_packages.ts";

const LIB_FOLDER = path.dirname(ts.getDefaultLibFilePath({}));
const PACKAGES = "/node_modules/";
const DECLARATIONS = /\.d\.[mc]?ts$/;

/** Characters of library files: kept in all, and that one program may add. TypeScript, Node, React and Convex are 8 million. */
const MOST = 48_000_000;
const SHARE = 16_000_000;

/** In the order in which they were last used. */
const libraries = new Map<string, ts.SourceFile>();
let characters = 0;

function recall(key: string): ts.SourceFile | undefined {
  const known = libraries.get(key);
  if (known) {
    libraries.delete(key);
    libraries.set(key, known);
  }
  return known;
}

function keep(key: string, source: ts.SourceFile): void {
  libraries.set(key, source);
  characters += source.text.length;
  for (const [oldest, { text }] of libraries) {
    if (characters <= MOST) break;
    libraries.delete(oldest);
    characters -= text.length;
  }
}

/** A system that shows the project (real path `root`), packages, TypeScript's own library and `others`; nothing else exists. */
export function projectSystem(root: string, others: readonly string[] = []): ts.System {
  const allowed = [posix(root), posix(LIB_FOLDER), ...others.map(posix)];
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

/** What a file of a project says of being the standard library itself (`no-default-lib`) is not so, and would leave it unchecked. */
function withDefaultLibrary(source: ts.SourceFile | undefined): ts.SourceFile | undefined {
  if (source) source.hasNoDefaultLib = false;
  return source;
}

/** A compiler host on `system` whose library files come from the shared store, and missing types from `typeFolders`. */
export function projectHost(
  system: ts.System,
  options: ts.CompilerOptions,
  typeFolders: readonly string[],
): ts.CompilerHost {
  // ESLint walks from nodes to their parents.
  const host = ts.createCompilerHost(options, true);
  let share = SHARE;
  const parse = host.getSourceFile.bind(host);
  const own: ts.CompilerHost = {
    ...host,
    getCurrentDirectory: system.getCurrentDirectory,
    fileExists: system.fileExists,
    readFile: system.readFile,
    directoryExists: system.directoryExists,
    getDirectories: system.getDirectories,
    readDirectory: system.readDirectory,
    writeFile: () => {},
    getSourceFile(name, language, onError, renew) {
      const packaged = name.includes(PACKAGES) || name.startsWith(`${posix(LIB_FOLDER)}/`);
      if (!packaged && !system.fileExists(name)) return undefined;
      if (!packaged) return withDefaultLibrary(parse(name, language, onError, renew));
      // Code of packages is bound by the options of a project.
      if (!DECLARATIONS.test(name)) return parse(name, language, onError, renew);
      const format = typeof language === "object" ? (language.impliedNodeFormat ?? 0) : 0;
      const key = `${name}|${versionOf(name)}|${format}`;
      const known = recall(key);
      if (known) return known;
      const parsed = parse(name, language, onError, renew);
      // Under another name than its own, it belongs to the project that gave it.
      if (parsed && system.realpath?.(name) === name && (share -= parsed.text.length) >= 0) keep(key, parsed);
      return parsed;
    },
  };
  return { ...own, resolveModuleNameLiterals: moduleResolver(own, options, typeFolders) };
}
