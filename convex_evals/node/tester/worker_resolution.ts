/**
 * Preloaded into the process that runs a grader: what Node cannot find by itself is looked for in the suite's packages
 * and in our toolchain. Vite asks `graderResolution`; this serves `require`, and what vitest itself imports by name
 * (the environments "jsdom" and "happy-dom").
 *
 * The folders are the `in` parameters of this module's own URL.
 */
import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { takeOver } from "./programs/hand_on.ts";
import { useDoors } from "./doors.ts";
import { useServerPorts } from "./server_ports.ts";

useServerPorts();
useDoors();
takeOver();
answerForMemory();

const folders = new URL(import.meta.url).searchParams.getAll("in");
const requires = folders.map((folder) => createRequire(`${folder}/anything.js`));
const NOT_FOUND = new Set(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"]);
const BARE = /^(@[^/]+\/)?[a-zA-Z0-9_~][^:]*$/;

/** Vitest's worker asks for its memory, which Node cannot say where a sandbox hides `/proc/self` of programs that we start. */
function answerForMemory(): void {
  const ask = process.memoryUsage;
  const none = { rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 };
  process.memoryUsage = Object.assign(
    () => {
      try {
        return ask();
      } catch {
        return none;
      }
    },
    { rss: ask.rss },
  );
}

// Looking for a package resolves it, which must not start over.
let looking = false;

function find(specifier: string): string | undefined {
  looking = true;
  try {
    for (const require of requires) {
      try {
        return pathToFileURL(require.resolve(specifier)).href;
      } catch {
        // The next folder may have it.
      }
    }
    return undefined;
  } finally {
    looking = false;
  }
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    try {
      return nextResolve(specifier, context);
    } catch (error) {
      const missing = NOT_FOUND.has((error as NodeJS.ErrnoException).code ?? "");
      const url = missing && !looking && BARE.test(specifier) ? find(specifier) : undefined;
      if (url === undefined) throw error;
      return { url, shortCircuit: true };
    }
  },
});
