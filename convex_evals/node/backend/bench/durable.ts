/**
 * How long a backend takes to start with documents on the disk, and what a commit costs more than in memory.
 *
 *     node --experimental-vm-modules --disable-warning=ExperimentalWarning backend/bench/durable.ts [--documents N]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { startBackend, type Backend } from "../server.ts";
import { deployFiles } from "./app.ts";

const FILES = {
  "convex/schema.ts":
    'import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ notes: defineTable({ n: v.number(), text: v.string() }).index("by_text", ["text"]) });',
  "convex/notes.ts": `import { mutation, query } from "./_generated/server"; import { v } from "convex/values";
export const fill = mutation({ args: { from: v.number(), count: v.number() }, handler: async (ctx, { from, count }) => {
  for (let n = from; n < from + count; n++) await ctx.db.insert("notes", { n, text: "note " + n }); } });
export const find = query({ args: { text: v.string() }, handler: async (ctx, { text }) =>
  (await ctx.db.query("notes").withIndex("by_text", (q) => q.eq("text", text)).unique())?.n ?? null });`,
};
const PER_MUTATION = 1000;
const COMMITS = 300;

const { values } = parseArgs({ options: { documents: { type: "string", default: "100000" } } });
const documents = Number(values.documents);
const folder = mkdtempSync(path.join(tmpdir(), "bench-durable-"));
const data = {
  folder,
  onFatal: (line: string): never => {
    throw new Error(line);
  },
  onWarning: (line: string): void => void process.stderr.write(`${line}\n`),
};

function clientOf(backend: Backend): ConvexHttpClient {
  return new ConvexHttpClient(backend.url, { logger: false });
}

async function msPerCommit(backend: Backend): Promise<number> {
  const client = clientOf(backend);
  const begin = performance.now();
  for (let n = 0; n < COMMITS; n++) await client.mutation(anyApi["notes"]!["fill"]!, { from: n, count: 1 });
  return (performance.now() - begin) / COMMITS;
}

async function timed<T>(run: () => Promise<T>): Promise<[T, number]> {
  const begin = performance.now();
  return [await run(), performance.now() - begin];
}

const inMemory = await startBackend();
await deployFiles(inMemory, FILES);
const [kept, msEmpty] = await timed(() => startBackend({ data }));
await deployFiles(kept, FILES);
const times = { memory: [] as number[], disk: [] as number[] };
for (let round = 0; round < 5; round++) {
  times.memory.push(await msPerCommit(inMemory));
  times.disk.push(await msPerCommit(kept));
}
for (let from = 0; from < documents; from += PER_MUTATION) {
  await clientOf(kept).mutation(anyApi["notes"]!["fill"]!, { from, count: Math.min(PER_MUTATION, documents - from) });
}
await inMemory.close();
await kept.close();

const [again, msStart] = await timed(() => startBackend({ data }));
const last = { text: `note ${documents - 1}` };
const [, msFirst] = await timed(() => clientOf(again).query(anyApi["notes"]!["find"]!, last));
const [, msSecond] = await timed(() => clientOf(again).query(anyApi["notes"]!["find"]!, last));
await again.close();
rmSync(folder, { recursive: true });

const median = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
const ratio = median(times.disk) / median(times.memory);
process.stdout.write(
  `start: ${msEmpty.toFixed(0)} ms empty, ${msStart.toFixed(0)} ms with ${documents} documents (${(msStart / msEmpty).toFixed(1)} x)\n` +
    `a query by index: ${msFirst.toFixed(0)} ms the first time, ${msSecond.toFixed(1)} ms then (${(msFirst / msSecond).toFixed(1)} x)\n` +
    `a commit: ${median(times.memory).toFixed(2)} ms in memory, ${median(times.disk).toFixed(2)} ms on the disk (${ratio.toFixed(2)} x)\n`,
);
process.exit(0);
