import { expect, test } from "vitest";
import { compareFunctionSpec, compareSchema, listTable, outputPackage, readOutput, responseClient } from "../../../grader";
import { api } from "./answer/convex/_generated/api";

test("compare schema", compareSchema);

test("compare function spec", compareFunctionSpec);

test("the component is used", () => {
  expect(outputPackage().dependencies).toHaveProperty(["@convex-dev/rate-limiter"]);
  expect(readOutput("convex/convex.config.ts")).toMatch(/@convex-dev\/rate-limiter\/convex\.config/);
});

test("the bell rings twice for everybody", async () => {
  const ring = (name: string) => responseClient!.mutation(api.bell.ring, { name });
  expect([await ring("ada"), await ring("ada"), await ring("ada"), await ring("grace")]).toEqual([true, true, false, true]);
  expect((await listTable("rings")).map(({ name }) => name).sort()).toEqual(["ada", "ada", "grace"]);
});
