import { expect, test } from "vitest";
import { compareFunctionSpec, outputPackage, readOutput } from "../../../grader";

test("compare function spec", compareFunctionSpec);

test("the client subscribes to the notes", () => {
  expect(readOutput("src/App.tsx")).toContain("useQuery(api.notes.list)");
});

test("the package names no types", () => {
  expect(Object.keys(outputPackage().dependencies ?? {})).not.toContain("@types/react");
});
