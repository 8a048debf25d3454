/** Environment variables that change: what a refused change leaves, and what a change replaces. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN_KEY } from "../versions.ts";
import { deploy, makeProject, post, startPush, type PushAnswer } from "./harness.ts";

const FILES = {
  "convex/convex.config.ts":
    'import { defineApp } from "convex/server"; import { v } from "convex/values"; export default defineApp({ env: { DOMAIN: v.string(), LEVEL: v.optional(v.literal("high")) } });',
  "convex/auth.config.ts":
    'const at = process.env.DOMAIN!; if (at === "bad") throw new Error("no domain"); export default { providers: [{ domain: at, applicationID: "a" }] };',
  "convex/m.ts": 'import { query } from "./_generated/server"; export const one = query(async () => 1);',
};

test("environment variables", async (t) => {
  const { backend } = await deploy(t, FILES, { env: { DOMAIN: "https://one.example.com" } });
  const authorization = { authorization: `Convex ${ADMIN_KEY}` };
  const set = async (changes: { name: string; value?: string }[]): Promise<PushAnswer> =>
    await post(`${backend.url}/api/update_environment_variables`, { changes }, authorization);
  const list = async (headers: Record<string, string>): Promise<unknown> =>
    await (await fetch(`${backend.url}/api/list_environment_variables`, { headers })).json();
  const domains = (): unknown => JSON.parse(JSON.stringify(backend.app.deployment?.authProviders()));

  await t.test("a change replaces who may say who a caller is", async () => {
    assert.deepEqual(domains(), [{ domain: "https://one.example.com", applicationID: "a" }]);
    assert.equal((await set([{ name: "DOMAIN", value: "https://two.example.com" }])).status, 200);
    assert.deepEqual(domains(), [{ domain: "https://two.example.com", applicationID: "a" }]);
  });

  await t.test("a change that is refused changes nothing", async () => {
    for (const refused of [{ name: "DOMAIN", value: "bad" }, { name: "DOMAIN" }, { name: "LEVEL", value: "low" }]) {
      assert.equal((await set([{ name: "A", value: "1" }, refused])).status, 400);
    }
    assert.deepEqual(domains(), [{ domain: "https://two.example.com", applicationID: "a" }]);
    assert.deepEqual(await list(authorization), { environmentVariables: { DOMAIN: "https://two.example.com" } });
  });

  await t.test("changes at once are all made", async () => {
    const names = ["C", "A", "B"];
    const answers = await Promise.all(names.map((name) => set([{ name, value: name }])));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    const environmentVariables = { A: "A", B: "B", C: "C", DOMAIN: "https://two.example.com" };
    assert.deepEqual(await list(authorization), { environmentVariables });
    assert.equal(((await list({})) as { code: string }).code, "BadAdminKey");
  });

  await t.test("a change during a push refuses it", async (tt) => {
    const started = await startPush(backend, makeProject(tt, FILES));
    await set([{ name: "A", value: "changed" }]);
    const finish = { adminKey: ADMIN_KEY, startPush: started.body, dryRun: false };
    const url = `${backend.url}/api/deploy2/finish_push`;
    assert.deepEqual((await post(url, finish)).body, {
      code: "RaceDetected",
      message: "Environment variables have changed during push",
    });
    await set([{ name: "A", value: "A" }]);
    assert.equal((await post(url, finish)).status, 200);
  });
});
