import { exec, spawnSync } from "child_process";
import { readFileSync, rmSync, writeFileSync } from "fs";
import { join } from "path";
import { promisify } from "util";
import { describe, expect, it } from "vitest";
import { compareFunctionSpec, compareSchema, outputFolder, responseClient } from "../../../grader";
import { api } from "./answer/convex/_generated/api";

const run = promisify(exec);

describe("the cart", () => {
  it("has the functions of the task", async () => {
    await compareSchema();
    await compareFunctionSpec();
  });

  it("adds up", async () => {
    await responseClient!.mutation(api.cart.put, { item: "tea", price: 3 });
    expect(await responseClient!.query(api.cart.total, {})).toBe(3);
    await responseClient!.mutation(api.cart.clear, {});
    expect(await responseClient!.query(api.cart.total, {})).toBe(0);
  });
});

describe("its tests", () => {
  it("pass", async () => {
    const { stdout } = await run("npx vitest run --reporter=json", { cwd: outputFolder, timeout: 50_000 });
    const report = JSON.parse(stdout.slice(stdout.indexOf("{")));
    expect(report).toMatchObject({ success: true, numFailedTests: 0, numPassedTests: 2 });
  }, 60_000);

  it("fail where the cart is wrong", { timeout: 60_000 }, () => {
    const file = join(outputFolder, "convex", "cart.ts");
    const original = readFileSync(file, "utf8");
    writeFileSync(file, original.replace("sum + line.price", "sum"));
    try {
      const report = join(outputFolder, "report.json");
      const binary = join(outputFolder, "node_modules", ".bin", "vitest");
      const { status } = spawnSync(binary, ["run", "--reporter=json", `--outputFile=${report}`], { cwd: outputFolder });
      expect(status).toBe(1);
      expect(JSON.parse(readFileSync(report, "utf8")).numFailedTests).toBe(1);
      rmSync(report);
    } finally {
      writeFileSync(file, original);
    }
  });
});
