import fs from "fs";
import path from "path";
import ts from "typescript";
import { expect, test } from "vitest";
import { outputFolder, parseOutput, responseClient } from "../../../grader";

test("static evals have no backend", () => {
  expect(responseClient).toBeNull();
});

test("only the words of the task are explained", () => {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node)) found.push(node.name.getText());
    ts.forEachChild(node, visit);
  };
  visit(parseOutput("GLOSSARY.ts"));
  expect(found.sort()).toEqual(["action", "mutation", "query"]);
});

test("nothing but the glossary was written", () => {
  const names = fs.readdirSync(outputFolder).filter((name) => fs.statSync(path.join(outputFolder, name)).isFile());
  expect(names.sort()).toEqual(["GLOSSARY.ts", "package.json"]);
});
