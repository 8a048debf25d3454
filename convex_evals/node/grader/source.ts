/** What the source says, only for what behaviour cannot show: read as a syntax tree, so that layout and comments do not count. */
import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Node, SourceFile } from "typescript";
import { ENDING } from "../code_cache.ts";
import type * as Compiler from "./compiler.ts";
import { projectDir, readProjectFile } from "./connection.ts";

/** One call in the source: `ctx.storage.store(blob)` has the callee "ctx.storage.store" and the arguments ["blob"]. */
export interface SourceCall {
  file: string;
  line: number;
  callee: string;
  args: string[];
}

const SOURCE = /\.(ts|tsx|js|jsx|mts|mjs)$/;

/** The project's own source files under a folder, without `_generated`, as paths with forward slashes. */
export function listSources(folder = "convex"): string[] {
  const root = projectDir();
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) =>
      relative(root, join(root, folder, path))
        .split(sep)
        .join("/"),
    )
    .filter((path) => SOURCE.test(path) && !/(^|\/)(_generated|node_modules)\//.test(path) && !path.endsWith(".d.ts"))
    .sort();
}

/** All calls in these files whose callee matches. A chain's callee is its text without line breaks. */
export async function findCalls(files: string[], callee: RegExp): Promise<SourceCall[]> {
  const ts = await loadCompiler();
  const found: SourceCall[] = [];
  await visit(files, (node, source, file) => {
    if (!ts.isCallExpression(node)) return;
    const text = node.expression.getText(source).replace(/\s+/g, "");
    if (!callee.test(text)) return;
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    found.push({ file, line, callee: text, args: node.arguments.map((argument) => argument.getText(source)) });
  });
  return found;
}

/** Most graders never look at the source: the compiler is loaded by those that do. */
async function loadCompiler(): Promise<typeof import("typescript")> {
  const bundle = new URL(`./compiler${ENDING}`, import.meta.url).href;
  return ((await import(bundle)) as typeof Compiler).compiler;
}

async function visit(files: string[], see: (node: Node, source: SourceFile, file: string) => void): Promise<void> {
  const ts = await loadCompiler();
  for (const file of files) {
    const source = ts.createSourceFile(file, readProjectFile(file), ts.ScriptTarget.Latest, true);
    const walk = (node: Node): void => {
      see(node, source, file);
      ts.forEachChild(node, walk);
    };
    walk(source);
  }
}
