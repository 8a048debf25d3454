/**
 * Whether compiler options make the same of a file where it runs as where it is checked. A program has one set of options; the
 * bundler reads them of the tsconfig.json that is nearest to each file. https://esbuild.github.io/content-types/#tsconfig-json
 */
import path from "node:path";
import ts from "typescript";
import { isScript, shownPath } from "../push/project_fs.ts";
import { projectSystem } from "./host.ts";
import type { UncheckedCode } from "./imports.ts";
import type { CheckedProject } from "./program.ts";

type Options = ts.CompilerOptions;

/** What the bundler reads of a folder: the first that is there. */
const NAMES = ["tsconfig.json", "jsconfig.json"];

/** By option: what it comes to, as far as the bundler heeds it, and whether it has a part in what a file becomes. */
const EMITTED: Record<string, { valueOf(options: Options): unknown; concerns(node: ts.Node): boolean }> = {
  jsx: { valueOf: ({ jsx }) => jsx === ts.JsxEmit.React, concerns: isJsx },
  jsxFactory: { valueOf: ({ jsxFactory }) => jsxFactory ?? "React.createElement", concerns: isJsx },
  jsxFragmentFactory: { valueOf: (options) => options.jsxFragmentFactory ?? "React.Fragment", concerns: isJsx },
  jsxImportSource: { valueOf: ({ jsxImportSource }) => jsxImportSource ?? "react", concerns: isJsx },
  experimentalDecorators: {
    valueOf: ({ experimentalDecorators }) => experimentalDecorators === true,
    concerns: ts.isDecorator,
  },
  useDefineForClassFields: {
    valueOf: ({ useDefineForClassFields, target }) =>
      useDefineForClassFields ?? (target === undefined || target >= ts.ScriptTarget.ES2022),
    concerns: ts.isPropertyDeclaration,
  },
};

function isJsx(node: ts.Node): boolean {
  return ts.isJsxElement(node) || ts.isJsxSelfClosingElement(node) || ts.isJsxFragment(node);
}

function has(source: ts.SourceFile, concerns: (node: ts.Node) => boolean): boolean {
  const visit = (node: ts.Node): boolean => concerns(node) || ts.forEachChild(node, visit) === true;
  return visit(source);
}

/** Files of functions that other options apply to where they run. */
export function otherSettings({ root, running, programs, settingsOf }: CheckedProject): UncheckedCode[] {
  const system = projectSystem(root);
  const known = new Map<string, Options>();
  const optionsOf = (file: string): Options => {
    let options = known.get(file);
    if (options === undefined) {
      const source = ts.readJsonConfigFile(file, system.readFile);
      ({ options } = ts.parseJsonSourceFileConfigFileContent(source, system, path.dirname(file), undefined, file));
      known.set(file, options);
    }
    return options;
  };
  return programs.flatMap(({ program, judged }) =>
    judged.flatMap((source) => {
      const file = source.fileName;
      const nearest = running.functions.has(file) && isScript(file) ? nearestSettings(root, file, system) : undefined;
      if (nearest === undefined || nearest === settingsOf.get(program)) return [];
      const differing = Object.entries(EMITTED).filter(
        ([, { valueOf, concerns }]) =>
          valueOf(optionsOf(nearest)) !== valueOf(program.getCompilerOptions()) && has(source, concerns),
      );
      return differing.map(([option]) => ({
        file: shownPath(root, file),
        message: `runs by ${shownPath(root, nearest)}, whose \`${option}\` is another than it is checked with: they must be the same`,
      }));
    }),
  );
}

function nearestSettings(root: string, file: string, system: ts.System): string | undefined {
  for (let folder = path.dirname(file); folder.startsWith(root); folder = path.dirname(folder)) {
    const settings = NAMES.map((name) => path.join(folder, name)).find((each) => system.fileExists(each));
    if (settings !== undefined) return settings;
    if (folder === root) return undefined;
  }
  return undefined;
}
