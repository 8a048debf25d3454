/**
 * The checker: a server that reads projects and never runs them.
 *
 * One JSON request a line on stdin, one JSON answer a line on stdout, in the order of the requests:
 *
 *     {"id": 1, "op": "typecheck", "project": "/..."}
 *     {"id": 1, "ok": true, "result": {...}}
 *     {"id": 1, "ok": false, "error": {"kind": "deploy", "message": "..."}}
 *
 * Everything else that is printed goes to stderr. The process ends when stdin does.
 *
 * An answer may say `"retire": true`: something went wrong, or is not as it was before, and the next project is better
 * served by another process.
 */
import { writeSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { answer, type Answer } from "./ops.ts";

// Made by build.ts; operations import the large libraries when they are first asked for.
enableCompileCache(fileURLToPath(new URL("../build/compile-cache", import.meta.url)));

// Libraries print through console; stdout belongs to the answers.
for (const method of ["log", "info", "debug", "dir", "table"] as const) {
  console[method] = console.error;
}

function send(line: string): void {
  const bytes = Buffer.from(`${line}\n`);
  let sent = 0;
  while (sent < bytes.length) {
    try {
      sent += writeSync(1, bytes, sent);
    } catch (error) {
      // A pipe that is full and non-blocking: its reader is slow, not gone.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** Garbage is collected when memory has grown by this much: most of it is, and a new process would have to learn everything again. */
const TIDY_AFTER = 256 << 20;
let tidyAbove = 640 << 20;

/** Resident memory in bytes, tidied where it is much. */
function residentBytes(): number {
  if (process.memoryUsage.rss() > tidyAbove) {
    gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
    tidyAbove = Math.max(tidyAbove, process.memoryUsage.rss() + TIDY_AFTER);
  }
  return process.memoryUsage.rss();
}

let rejected = false;
// Work that a failed operation left behind must not end the process while it serves another project.
process.on("unhandledRejection", (reason) => {
  rejected = true;
  console.error(reason);
});

const BUILT_IN = [Object, Array, Function, String, Number, Promise, Map, Set, RegExp, JSON, Reflect, Math];

/** What libraries of ours add when they are first needed: eslint-plugin-react-hooks brings zod. */
const OF_LIBRARIES = new Set<PropertyKey>(["__zod_globalConfig", "__zod_globalRegistry"]);

/** All that one project could leave to the next in this process, as a text. */
function surroundings(): string {
  const names = BUILT_IN.map((each) => [
    Reflect.ownKeys(each).length,
    "prototype" in each ? Reflect.ownKeys(each.prototype as object).length : 0,
  ]);
  return JSON.stringify([
    process.cwd(),
    process.env,
    Reflect.ownKeys(globalThis).filter((name) => !OF_LIBRARIES.has(name)).length,
    names,
  ]);
}

/** The answer to a request, and whether another process is to answer the next. */
async function served(line: string): Promise<Answer & { retire?: true }> {
  const before = surroundings();
  const given = await answer(line);
  const failed = !given.ok && given.error.kind === "internal";
  return failed || rejected || surroundings() !== before ? { ...given, retire: true } : given;
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  if (line.trim() !== "") send(JSON.stringify({ ...(await served(line)), resident_bytes: residentBytes() }));
}
// esbuild's service would keep the process alive.
process.exit(0);
