/** What `console` writes: log lines of the default runtime and of actions for Node.js. */

import { moduleFile, type Row } from "../harness.ts";

const EXECUTOR = "get-convex/convex-backend npm-packages/node-executor/src/executor.ts";
const NODE = "https://nodejs.org/api/console.html";
const OPS = "get-convex/convex-backend crates/isolate/src/ops/console.rs";
const METHODS = "get-convex/convex-backend npm-packages/udf-runtime/src/02_console.ts";

/** A row of an action that logs, in either runtime; `lines` are what is logged. */
function row(id: string, rule: string, citation: string, body: string, lines: readonly string[], isNode = true): Row {
  const handler = `export const run = action({ args: {}, handler: async (): Promise<any> => {\n${body}\n} });`;
  const files = isNode
    ? { "convex/m.ts": `"use node";\nimport { action } from "./_generated/server";\n${handler}` }
    : moduleFile("m", handler);
  return {
    ...{ id: `console/${id}`, rule, citation, files },
    steps: [{ api: "/api/action", body: { path: "m:run", args: {}, format: "json" } }],
    expected: { value: { status: "success", value: null, ...(lines.length === 0 ? {} : { logLines: lines }) } },
  };
}

const TIMERS = 'console.time("a"); console.time("a"); console.timeLog("b", 1); console.timeEnd();';

const inNode: readonly Row[] = [
  row(
    "levels",
    "Each level has its method, and values are shown as Node shows them.",
    EXECUTOR,
    'console.log("a", { b: [1, new Map([[1, 2]])] }); console.info(1n); console.debug(null); console.warn(undefined); console.error({ a: { b: { c: { d: 1 } } } });',
    [
      "[LOG] 'a' { b: [ 1, Map(1) { 1 => 2 } ] }",
      "[INFO] 1n",
      "[DEBUG] null",
      "[WARN] undefined",
      "[ERROR] { a: { b: { c: [Object] } } }",
    ],
  ),
  row(
    "table",
    "`console.table` logs a table, or what is none.",
    NODE,
    "console.table([{ a: 1, b: 2 }]); console.table(5);",
    [
      "[LOG] '┌─────────┬───┬───┐\\n' +\n  '│ (index) │ a │ b │\\n' +\n  '├─────────┼───┼───┤\\n' +\n  '│ 0       │ 1 │ 2 │\\n' +\n  '└─────────┴───┴───┘'",
      "[LOG] 5",
    ],
  ),
  row(
    "group",
    "Groups log their labels; lines in them are not indented.",
    EXECUTOR,
    'console.group("outer"); console.log("inside"); console.groupCollapsed("inner"); console.groupEnd(); console.groupEnd(); console.log("outside");',
    ["[LOG] 'outer'", "[LOG] 'inside'", "[LOG] 'inner'", "[LOG] 'outside'"],
  ),
  row(
    "count",
    "Counters are counted.",
    NODE,
    'console.count(); console.count("a"); console.count(); console.countReset(); console.count();',
    ["[LOG] 'default: 1'", "[LOG] 'a: 1'", "[LOG] 'default: 2'", "[LOG] 'default: 1'"],
  ),
  row(
    "assert",
    "Assertions that fail are warnings, and no errors.",
    NODE,
    'console.assert(true, "no"); console.assert(false, "yes", 1); console.assert(false);',
    ["[WARN] 'Assertion failed: yes' 1", "[WARN] 'Assertion failed'"],
  ),
  row(
    "dir",
    "What `dir` and `dirxml` write goes to the output of the process, which nobody sees.",
    EXECUTOR,
    "console.dir({ a: 1 }); console.dirxml(1); console.clear();",
    [],
  ),
  row("timers", "Timers that are there twice, or not at all, are warnings.", EXECUTOR, TIMERS, [
    "[WARN] \"Timer 'a' already exists\"",
    "[WARN] \"Timer 'b' does not exist\"",
    "[WARN] \"Timer 'default' does not exist\"",
  ]),
  row(
    "methods",
    "All methods of Node's are there.",
    NODE,
    'const missing = ["assert", "clear", "count", "countReset", "debug", "dir", "dirxml", "error", "group", "groupCollapsed", "groupEnd", "info", "log", "table", "time", "timeEnd", "timeLog", "trace", "warn"].filter((name) => typeof (console as any)[name] !== "function"); if (missing.length > 0) throw new Error(missing.join());',
    [],
  ),
  {
    id: "console/calls",
    rule: "Counters are those of one call: each has a `console` of its own.",
    citation: EXECUTOR,
    files: {
      "convex/m.ts":
        '"use node";\nimport { action } from "./_generated/server";\nexport const run = action({ args: {}, handler: async () => { console.count(); console.time("a"); } });',
    },
    steps: [
      { call: "action", path: "m:run" },
      { api: "/api/action", body: { path: "m:run", args: {}, format: "json" } },
    ],
    expected: { value: { status: "success", value: null, logLines: ["[LOG] 'default: 1'"] } },
  },
];

const byDefault: readonly Row[] = [
  row(
    "default-timers",
    "So they are in the default runtime.",
    OPS,
    TIMERS,
    ["[WARN] Timer 'a' already exists", "[WARN] Timer 'b' does not exist", "[WARN] Timer 'default' does not exist"],
    false,
  ),
  ...["table([])", 'group("a")', "dir({})", "count()", "assert(false)"].map((call): Row => {
    const name = call.slice(0, call.indexOf("("));
    return {
      id: `console/default-${name}`,
      rule: "The default runtime has no other methods than those that write lines and measure time.",
      citation: METHODS,
      files: moduleFile("m", `export const run = query({ args: {}, handler: async () => { console.${call}; } });`),
      steps: [{ call: "query", path: "m:run" }],
      expected: { rejects: `Uncaught TypeError: console.${name} is not a function` },
    };
  }),
];

export const rows: readonly Row[] = [...inNode, ...byDefault];
