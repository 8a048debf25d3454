import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { expect, test } from "vitest";
import { compareFunctionSpec, outputFolder, parseOutput, readOutput, responseClient } from "../../../grader/index.ts";
import { api } from "./answer/convex/_generated/api.js";

function calledFunctions(file: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) names.push(`${node.expression.getText()}(${node.arguments.map((each) => each.getText()).join(", ")})`);
    ts.forEachChild(node, visit);
  };
  visit(parseOutput(file));
  return names;
}

test("compare function spec", compareFunctionSpec);

test("the client subscribes to the notes", () => {
  expect(calledFunctions("src/App.tsx")).toEqual(expect.arrayContaining(["useQuery(api.notes.list)", "useMutation(api.notes.add)"]));
  expect(readOutput("src/main.tsx")).toContain("<ConvexProvider");
});

test("the project passes its own type check", { timeout: 60_000 }, () => {
  expect(existsSync(join(outputFolder, "node_modules", "react"))).toBe(true);
  const flags = ["--noEmit", "--skipLibCheck", "--strict", "--jsx", "react-jsx", "--module", "esnext", "--moduleResolution", "bundler"];
  execFileSync("npx", ["tsc", ...flags, "--types", "vite/client", "src/main.tsx"], { cwd: outputFolder, stdio: "pipe" });
});

test("notes arrive at a subscriber", async () => {
  const seen: string[][] = [];
  const stop = responseClient!.onUpdate(api.notes.list, {}, (notes) => seen.push(notes.map((note) => note.text)));
  await expect.poll(() => seen).toEqual([[]]);
  await responseClient!.mutation(api.notes.add, { text: "hello" });
  await expect.poll(() => seen.at(-1)).toEqual(["hello"]);
  stop();
});
