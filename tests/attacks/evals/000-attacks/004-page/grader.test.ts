// THE-ANSWER-IS-HERE: no project may find this text.
import { answerClient, eventually, openPage } from "convex-evals/grader";
import { anyApi } from "convex/server";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

// Read as a file: the tester sees the suite.
const ANSWER = readFileSync(join(import.meta.dirname, "answer/convex/ping.ts"), "utf8");

test("its page is harmless", async () => {
  expect(ANSWER).toContain("pong");
  expect(await answerClient().query(anyApi.ping.ping, {})).toBe("pong");
  const page = await openPage();
  let shown = "";
  await eventually(async () => expect((shown = await page.text())).not.toBe(""), { timeoutMs: 9000, what: "anything to be shown" });
  // What an attack found stands in the verdict.
  expect(shown, shown).toBe("harmless");
});
