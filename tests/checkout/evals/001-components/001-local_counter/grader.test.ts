import { describe, expect, test } from "vitest";
import { compareFunctionSpec, compareSchema, responseAdminClient, responseClient } from "../../../grader";
import { api } from "./answer/convex/_generated/api";

describe("the app", () => {
  test("compare schema", compareSchema);
  test("compare function spec", compareFunctionSpec);
});

describe("the components", () => {
  test("two of them are installed", async () => {
    const components: { name: string; path: string }[] = await responseAdminClient!.query("_system/frontend/components:list" as any, {});
    expect(components.map(({ path }) => path).sort()).toEqual(["archive", "counter"]);
  });

  test("each keeps its own counts", async () => {
    for (const name of ["ada", "ada", "grace"]) await responseClient!.mutation(api.votes.vote, { name });
    await responseClient!.mutation(api.votes.close, { name: "ada" });
    await responseClient!.mutation(api.votes.vote, { name: "ada" });
    expect(await responseClient!.query(api.votes.totals, { name: "ada" })).toEqual({ open: 3, archived: 2 });
    expect(await responseClient!.query(api.votes.totals, { name: "grace" })).toEqual({ open: 1, archived: 0 });
  });

  test("nobody calls them from outside", async () => {
    await expect(responseClient!.query("counter/public:read" as any, { name: "ada" })).rejects.toThrow();
  });
});
