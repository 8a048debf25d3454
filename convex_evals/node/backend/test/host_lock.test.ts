/** What an app may get of the host, an error, leads to nothing that can keep anything. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

// In a process of its own: the lock cannot be opened again.
const CHECK = `
const { lockHost } = await import(process.argv[1]);
const { inspect } = await import("node:util");
let overflow;
(function down() { try { down(); } catch (error) { overflow ??= error; } })();
lockHost();
const open = [], seen = new Set([globalThis, process, performance]);
const waiting = [[overflow.constructor, "RangeError"], [Object.getPrototypeOf(overflow), "^"], [Error, "Error"], [inspect, "inspect"]];
while (waiting.length > 0) {
  const [object, path] = waiting.pop();
  if ((typeof object !== "object" && typeof object !== "function") || object === null || seen.has(object)) continue;
  seen.add(object);
  if (!Object.isFrozen(object)) open.push(path);
  waiting.push([Object.getPrototypeOf(object), path + ".^"]);
  for (const key of Reflect.ownKeys(object)) {
    const { value, get, set } = Object.getOwnPropertyDescriptor(object, key);
    for (const part of [value, get, set]) waiting.push([part, path + "." + String(key)]);
  }
}
console.log(JSON.stringify([seen.size > 100, open]));
// What Node does with errors still works.
try { null.x; } catch (error) { console.log(error.stack.split("\\n").length > 1, inspect(error).startsWith("TypeError")); }
const { promises } = await import("node:fs");
console.log((await promises.readFile("/nope").catch((error) => error.code)), inspect({ a: [1] }));
`;

test("all that leads on from an error of the host is frozen", () => {
  const file = fileURLToPath(new URL("../realm/host_lock.ts", import.meta.url));
  const argv = ["--input-type=module", "--eval", CHECK, file];
  const lines = execFileSync(process.execPath, argv, { encoding: "utf8" }).trim().split("\n");
  assert.deepEqual(lines, ["[true,[]]", "true true", "ENOENT { a: [ 1 ] }"]);
});
