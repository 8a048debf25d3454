/**
 * A project's own compiler settings, with the three repairs that every answer gets: a missing tsconfig is seeded,
 * `types` that do not resolve are dropped, and legacy module resolution becomes Bundler.
 */
import path from "node:path";
import ts from "typescript";
import { shownPath } from "../push/project_fs.ts";

/** Settings to check a set of files with. */
export interface Settings {
  /** The tsconfig file; null for a seeded one. */
  file: string | null;
  options: ts.CompilerOptions;
  /** Files that the tsconfig itself includes; empty for a seeded one. */
  files: string[];
  references: string[];
  /** Errors of the tsconfig itself. */
  errors: ts.Diagnostic[];
  repairs: string[];
  /** What a repaired or seeded tsconfig says, as JSON, by its path in the project: for who reads it after the check. */
  repaired: Record<string, object>;
}

/** For projects without a tsconfig; close to what Convex's own template says. */
const SEEDED = {
  target: "ESNext",
  module: "ESNext",
  moduleResolution: "Bundler",
  lib: ["ESNext", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
  jsx: "react-jsx",
  strict: true,
  allowJs: true,
  esModuleInterop: true,
  resolveJsonModule: true,
  isolatedModules: true,
  skipLibCheck: true,
};

// Nothing is emitted, and files beyond the tsconfig's own are added; what only concerns output would raise errors.
const OUTPUT_ONLY = [
  "composite",
  "incremental",
  "tsBuildInfoFile",
  "declaration",
  "declarationMap",
  "declarationDir",
  "emitDeclarationOnly",
  "isolatedDeclarations",
  "outDir",
  "outFile",
  "rootDir",
  "sourceMap",
  "inlineSourceMap",
  "inlineSources",
  "mapRoot",
  "sourceRoot",
  "noEmitOnError",
  "plugins",
  "noCheck",
] as const;

// What switches checks off, reads JavaScript of packages, or makes another file of what an import names than it is.
const NEVER = [
  "noResolve",
  "noLib",
  "libReplacement",
  "skipDefaultLibCheck",
  "maxNodeModuleJsDepth",
  "disableSizeLimit",
  "preserveSymlinks",
] as const;

/** The checks that `strict` stands for: a project cannot do without one of them. */
const STRICT_FAMILY = [
  "alwaysStrict",
  "noImplicitAny",
  "noImplicitThis",
  "strictBindCallApply",
  "strictBuiltinIteratorReturn",
  "strictFunctionTypes",
  "strictNullChecks",
  "strictPropertyInitialization",
  "useUnknownInCatchVariables",
] as const;

/** What all libraries of the language are made on, and those that have it in them. */
const LANGUAGE = "lib.es5.d.ts";
const WITH_LANGUAGE = /^lib\.es(5|6|next|20\d\d)(\.full)?\.d\.ts$/;

/** "The list of files is empty" and "no inputs were found": the checker names the files itself. */
const NO_FILES = new Set([18002, 18003]);

function forced(options: ts.CompilerOptions, strict: boolean): ts.CompilerOptions {
  const dropped = new Set<string>([...OUTPUT_ONLY, ...NEVER, ...(strict ? STRICT_FAMILY : [])]);
  const kept = Object.fromEntries(Object.entries(options).filter(([name]) => !dropped.has(name)));
  // The language's own types come from TypeScript, and not from files or packages of a project: checks go by them.
  const lacksLanguage = options.lib && !options.lib.some((name) => WITH_LANGUAGE.test(name));
  const lib = lacksLanguage ? { lib: [...options.lib!, LANGUAGE] } : {};
  return { ...kept, ...lib, noEmit: true, ...(strict ? { strict: true } : {}), libReplacement: false };
}

/** Options as a tsconfig says them. */
type Written = Record<string, unknown>;

function dropUnresolvedTypes(settings: Settings, shown: string, system: ts.System, folder: string): Written {
  const { options } = settings;
  if (!options.types) return {};
  const containing = path.join(folder, "__inferred type names__.ts");
  const resolves = (name: string): boolean =>
    ts.resolveTypeReferenceDirective(name, containing, options, system).resolvedTypeReferenceDirective !== undefined;
  const kept = options.types.filter((name) => {
    const found = resolves(name);
    if (!found) settings.repairs.push(`${shown}: dropped the 'types' entry '${name}', which does not resolve`);
    return found;
  });
  settings.options = { ...options, types: kept };
  return { types: kept };
}

function legacyResolution(options: ts.CompilerOptions): string | undefined {
  const { moduleResolution } = options;
  if (moduleResolution === ts.ModuleResolutionKind.Classic) return "classic";
  if (moduleResolution === ts.ModuleResolutionKind.Node10) return "node10";
  if (moduleResolution !== undefined) return undefined;
  // Not said: TypeScript derives it from `module`, and that from `target`.
  const modernTarget = (options.target ?? ts.ScriptTarget.ES5) >= ts.ScriptTarget.ES2015;
  const module = options.module ?? (modernTarget ? ts.ModuleKind.ES2015 : ts.ModuleKind.CommonJS);
  if (module >= ts.ModuleKind.Node16) return undefined;
  return module === ts.ModuleKind.CommonJS ? "node10 (the default)" : "classic (the default)";
}

function modernizeResolution(settings: Settings, shown: string): Written {
  const legacy = legacyResolution(settings.options);
  if (legacy === undefined) return {};
  const { lib, target } = settings.options;
  const hasDom = lib?.some((name) => name.toLowerCase() === "lib.dom.d.ts") ?? true;
  const isOld = target === undefined || target < ts.ScriptTarget.ES2015;
  const libraries = lib && (hasDom ? lib : [...lib, "lib.dom.d.ts"]);
  settings.options = {
    ...settings.options,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: isOld ? ts.ScriptTarget.ESNext : target,
    ...(libraries && { lib: libraries }),
  };
  settings.repairs.push(`${shown}: module resolution ${legacy} became Bundler with module ESNext and DOM in lib`);
  return {
    module: "ESNext",
    moduleResolution: "Bundler",
    ...(isOld && { target: "ESNext" }),
    ...(libraries && { lib: libraries.map((name) => name.replace(/^lib\.|\.d\.ts$/g, "")) }),
  };
}

function dropUnknownDeprecations(settings: Settings, shown: string): Written {
  const value = settings.options.ignoreDeprecations;
  if (value === undefined || value === "5.0") return {};
  settings.options = { ...settings.options, ignoreDeprecations: "5.0" };
  settings.repairs.push(`${shown}: ignoreDeprecations '${String(value)}' is of another TypeScript; 5.0 is used`);
  return { ignoreDeprecations: "5.0" };
}

/** The settings for files that no tsconfig of the project covers. */
export function seededSettings(shown: string): Settings {
  const repairs = [`${shown}: missing; strict defaults are used (Bundler, ESNext, DOM, react-jsx)`];
  const { options } = ts.convertCompilerOptionsFromJson(SEEDED, "/");
  return { file: null, options: forced(options, true), files: [], references: [], errors: [], repairs, repaired: {} };
}

/** The settings of a project without a tsconfig, where Convex's functions are in `functions`. */
export function seededTsconfig(functions: string): Settings {
  const written = {
    compilerOptions: { ...SEEDED, noEmit: true },
    include: [functions, "src"],
    exclude: [`${functions}/_generated`],
  };
  return { ...seededSettings("tsconfig.json"), repaired: { "tsconfig.json": written } };
}

/** Reads and repairs one tsconfig file; what is wrong with it is in `errors`. `strict`: whatever it says, types are checked strictly. */
export function readSettings(root: string, file: string, system: ts.System, strict: boolean): Settings {
  const shown = shownPath(root, file);
  const source = ts.readJsonConfigFile(file, system.readFile);
  const folder = path.dirname(file);
  const parsed = ts.parseJsonSourceFileConfigFileContent(source, system, folder, undefined, file);
  const errors = [...(source as unknown as { parseDiagnostics: ts.Diagnostic[] }).parseDiagnostics, ...parsed.errors];
  const settings: Settings = {
    file,
    options: forced(parsed.options, strict),
    files: parsed.fileNames.filter((name) => !name.includes("/node_modules/")),
    references: (parsed.projectReferences ?? []).map((reference) => ts.resolveProjectReferencePath(reference)),
    errors: errors
      .filter((error, index) => !NO_FILES.has(error.code) && errors.indexOf(error) === index)
      .map((error) => ({ ...error, file: error.file ?? source })),
    repairs: [],
    repaired: {},
  };
  const written = {
    ...modernizeResolution(settings, shown),
    ...dropUnresolvedTypes(settings, shown, system, folder),
    ...dropUnknownDeprecations(settings, shown),
  };
  if (settings.repairs.length > 0 && settings.errors.length === 0) {
    settings.repaired[shown] = withOptions(source, written);
  }
  return settings;
}

function withOptions(source: ts.TsConfigSourceFile, options: Written): object {
  const said = ts.convertToObject(source, []) as { compilerOptions?: object };
  return { ...said, compilerOptions: { ...said.compilerOptions, ...options } };
}
