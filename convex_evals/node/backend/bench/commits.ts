/**
 * What a commit costs while others subscribe to something else.
 *
 *     node --experimental-vm-modules --disable-warning=ExperimentalWarning backend/bench/commits.ts [--commits N]
 *
 * The order of the measurements alternates, so that a machine that slows down
 * or speeds up does not favour one of them.
 */

import { parseArgs } from "node:util";
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { startBackend } from "../server.ts";
import { deployFiles } from "./app.ts";

const FILES = {
  "convex/schema.ts":
    'import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ written: defineTable({ n: v.number() }), read: defineTable({ n: v.number() }) });',
  "convex/m.ts": `import { query, mutation } from "./_generated/server"; import { v } from "convex/values";
export const write = mutation({ args: { n: v.number() }, handler: async (ctx, { n }) => { await ctx.db.insert("written", { n }); } });
export const other = query({ args: { n: v.number() }, handler: async (ctx, { n }) => (await ctx.db.query("read").collect()).length + n });`,
};
const SUBSCRIPTIONS = [0, 50, 500];

const { values } = parseArgs({
  options: { commits: { type: "string", default: "300" }, rounds: { type: "string", default: "5" } },
});
const commits = Number(values.commits);
const rounds = Number(values.rounds);

async function msPerCommit(subscriptions: number): Promise<number> {
  const backend = await startBackend();
  await deployFiles(backend, FILES);
  const http = new ConvexHttpClient(backend.url, { logger: false });
  const client = new ConvexClient(backend.url, { logger: false });
  const first = Array.from(
    { length: subscriptions },
    (_, n) => new Promise((resolve) => client.onUpdate(anyApi["m"]!["other"]!, { n }, resolve)),
  );
  await Promise.all(first);
  for (let n = 0; n < 50; n++) await http.mutation(anyApi["m"]!["write"]!, { n });
  const start = performance.now();
  for (let n = 0; n < commits; n++) await http.mutation(anyApi["m"]!["write"]!, { n });
  const elapsed = performance.now() - start;
  await client.close();
  await backend.close();
  return elapsed / commits;
}

const results = new Map<number, number[]>(SUBSCRIPTIONS.map((count) => [count, []]));
for (let round = 0; round < rounds; round++) {
  const order = round % 2 === 0 ? SUBSCRIPTIONS : SUBSCRIPTIONS.toReversed();
  for (const count of order) results.get(count)?.push(await msPerCommit(count));
}
const medianOf = (numbers: number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
const base = medianOf(results.get(0) ?? []);
for (const [count, times] of results) {
  const median = medianOf(times);
  process.stdout.write(
    `${String(count).padStart(4)} unrelated subscriptions: ${median.toFixed(3)} ms per commit (${(median / base).toFixed(2)} x)\n`,
  );
}
process.exit(0);
