/**
 * What a grader's calls cost with Node's `fetch` and with ours, alternating in one run.
 *
 *     node grader/bench/fetch.ts [ROUNDS]
 *
 * Each round is a process that makes a hundred calls to a server outside of it, as a grader does; prints the medians of
 * its processor time and their ratio.
 */
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { leanFetch } from "../fetch.ts";

const CALLS = 100;
const REQUEST = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"path":"messages:list"}' };
const [way, port] = process.argv.slice(2);

async function calls(fetchOne: typeof leanFetch): Promise<void> {
  const before = process.cpuUsage();
  for (let call = 0; call < CALLS; call++) await (await fetchOne(`http://127.0.0.1:${port}/api/query`, REQUEST)).json();
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
  process.exit(0);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function measure(rounds: number, serving: number): void {
  const used: Record<string, number[]> = { fetch: [], lean: [] };
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? ["fetch", "lean"] : ["lean", "fetch"]) {
      const { stdout } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), name, String(serving)], {
        encoding: "utf8",
      });
      used[name]!.push(Number(stdout));
    }
  }
  const [theirs, ours] = [median(used["fetch"]!), median(used["lean"]!)];
  console.log(`${CALLS} calls, ${rounds} rounds; ms of processor time, median`);
  console.log(`fetch ${theirs.toFixed(0)}\nours  ${ours.toFixed(0)}\nratio ${(theirs / ours).toFixed(1)}`);
  process.exit(0);
}

if (!isMainThread) {
  const server = createServer((request, response) =>
    request.resume().on("end", () => response.end('{"status":"success"}')),
  );
  server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
} else if (way === "fetch" || way === "lean") {
  await calls(way === "fetch" ? fetch : leanFetch);
} else {
  // In a thread: this one waits for the rounds.
  const server = new Worker(fileURLToPath(import.meta.url));
  server.once("message", (serving: number) => measure(Number(way ?? 7), serving));
}
