import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** The folder of the candidate's project. */
export const outputFolder = process.env.MODEL_OUTPUT_DIR as string;

export function readOutput(path: string): string {
  const file = join(outputFolder, path);
  if (!existsSync(file)) throw new Error(`${path} must exist`);
  return readFileSync(file, "utf8");
}

export function parseOutput(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readOutput(path), ts.ScriptTarget.Latest, true, path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
}

export function outputPackage(): { dependencies?: Record<string, string>; devDependencies?: Record<string, string> } {
  return JSON.parse(readOutput("package.json"));
}
