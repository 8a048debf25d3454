/**
 * What a context of its own costs each call: a query of a small app in a new context, and in one that is kept.
 *
 *     node --experimental-vm-modules --disable-warning=ExperimentalWarning backend/bench/contexts.ts [--calls N]
 *
 * Both take turns. The query does nothing: what is measured is what every call has to pay.
 */

import { parseArgs } from "node:util";
import { esbuild } from "../../push/esbuild.ts";
import { relativeIdentifier } from "../push/module_ids.ts";
import { CompiledModules, type SourceModule } from "../realm/compiled_modules.ts";
import { Isolate } from "../realm/isolate.ts";
import { prepareIsolates } from "../realm/isolate_loader.ts";

const MODULE = `import { queryGeneric } from "convex/server"; import { v } from "convex/values";
export const run = queryGeneric({ args: { n: v.number() }, handler: async (_ctx, { n }) => n + 1 });`;
const ID = "convex:/m.js";
const ARGS = '[{"n":1}]';
const ROUNDS = 5;

const { values } = parseArgs({ options: { calls: { type: "string", default: "300" } } });
const calls = Number(values.calls);

async function bundled(): Promise<SourceModule> {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: MODULE, resolveDir: import.meta.dirname },
    bundle: true,
    format: "esm",
    write: false,
  });
  return { path: "m.js", source: outputFiles[0]!.text, environment: "isolate" };
}

const nothing = (): never => {
  throw new Error("the query calls nothing");
};
const modules = await CompiledModules.of([[ID, await bundled()]]);
await prepareIsolates();

const opened = (): Isolate =>
  new Isolate({
    kind: "query",
    modules,
    resolve: relativeIdentifier,
    env: {},
    load: { ms: Date.now(), seed: 1 },
    transactionMs: Date.now(),
    syscalls: { syscall: nothing, asyncSyscall: nothing, jsSyscall: nothing },
    log: nothing,
  });

async function msPerCall(isolate: () => Isolate): Promise<number> {
  const start = performance.now();
  for (let n = 0; n < calls; n++) {
    const outcome = await isolate().invoke(ID, "run", ARGS);
    if (!("value" in outcome)) throw new Error(outcome.error.message);
  }
  return (performance.now() - start) / calls;
}

const kept = opened();
const ways = { fresh: opened, kept: () => kept };
const times = { fresh: [] as number[], kept: [] as number[] };
for (let round = 0; round <= ROUNDS; round++) {
  for (const way of ["fresh", "kept"] as const) {
    const ms = await msPerCall(ways[way]);
    if (round > 0) times[way].push(ms); // the first one compiles
  }
}
const medianOf = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? NaN;
const [fresh, reused] = [medianOf(times.fresh), medianOf(times.kept)];
process.stdout.write(
  `new context: ${fresh.toFixed(3)} ms per call; kept context: ${reused.toFixed(3)} ms; a context costs ${(fresh - reused).toFixed(3)} ms\n`,
);
process.exit(0);
