/**
 * How long a backend process takes until it is ready, and what it occupies idle.
 *
 *     node backend/bench/startup.ts [--runs N]
 */

import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { deployFiles } from "./app.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const FILES = {
  "convex/m.ts":
    'import { query } from "./_generated/server"; export const one = query({ args: {}, handler: async () => 1 });',
};
const IDLE_MS = 1500;

interface Measurement {
  readonly readyMs: number;
  readonly emptyMiB: number;
  readonly deployMs: number;
  readonly deployedMiB: number;
}

async function measure(): Promise<Measurement> {
  const start = performance.now();
  const child = spawn(
    process.execPath,
    ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", MAIN, "--exit-with-stdin"],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const ready = JSON.parse(await firstLine(child)) as { port: number };
  const readyMs = performance.now() - start;
  const idle = async (): Promise<number> => {
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    return residentMiB(child.pid ?? 0);
  };
  const emptyMiB = await idle();
  const deployStart = performance.now();
  await deployFiles({ url: `http://127.0.0.1:${ready.port}` }, FILES);
  const deployMs = performance.now() - deployStart;
  const deployedMiB = await idle();
  child.stdin?.end();
  await new Promise((resolve) => child.once("exit", resolve));
  return { readyMs, emptyMiB, deployMs, deployedMiB };
}

async function firstLine(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.includes("\n")) return text.split("\n", 1)[0] ?? "";
  }
  throw new Error("the backend ended before it was ready");
}

function residentMiB(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}

const { values } = parseArgs({ options: { runs: { type: "string", default: "7" } } });
const runs: Measurement[] = [];
// The first one finds cold file caches.
await measure();
for (let run = 0; run < Number(values.runs); run++) runs.push(await measure());
const median = (pick: (run: Measurement) => number): string =>
  (runs.map(pick).toSorted((a, b) => a - b)[Math.floor(runs.length / 2)] ?? NaN).toFixed(0);
process.stdout.write(
  `ready: ${median((run) => run.readyMs)} ms\nidle, nothing deployed: ${median((run) => run.emptyMiB)} MiB\ndeploy, bundling included: ${median((run) => run.deployMs)} ms\nidle, small app deployed: ${median((run) => run.deployedMiB)} MiB\n(medians of ${runs.length} runs)\n`,
);
