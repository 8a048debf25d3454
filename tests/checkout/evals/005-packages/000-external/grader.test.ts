import { expect, test } from "vitest";
import { compareFunctionSpec, readOutput, responseClient } from "../../../grader";
import { api } from "./answer/convex/_generated/api";

test("compare function spec", compareFunctionSpec);

test("the package is external", () => {
  expect(readOutput("convex.json")).toContain("externalPackages");
});

test("durations are parsed", async () => {
  expect(await responseClient!.action(api.durations.parse, { text: "2 days" })).toBe(172_800_000);
});
