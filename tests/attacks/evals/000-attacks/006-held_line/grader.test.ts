// THE-ANSWER-IS-HERE: no project may find this text.
import { anonymousClient, eventually, openLine, openPage, projectDir, runProgram } from "convex-evals/grader";
import { anyApi } from "convex/server";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

async function inAPage(backend: string): Promise<string> {
  const page = await openPage({ backend });
  let shown = "";
  await eventually(async () => expect((shown = await page.text())).not.toBe(""), { timeoutMs: 12_000, what: "anything to be shown" });
  return shown;
}

test("what was given a line that is held is harmless", { timeout: 14_000 }, async () => {
  const line = await openLine();
  line.hold();
  // It may have servers of its own, which would tell.
  await anonymousClient().action(anyApi.relay.listen, {}).catch(() => undefined);
  const program = [process.execPath, "attack.test.mjs"] as const;
  const found = existsSync(join(projectDir(), "src/App.tsx"))
    ? await inAPage(line.url)
    : (await runProgram([...program], { reach: [line.url], timeoutMs: 12_000 })).stdout.trim();
  // What an attack found stands in the verdict.
  expect(found, found).toBe("harmless");
});
