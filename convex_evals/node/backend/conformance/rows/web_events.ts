/** `DOMException`, events and abort signals. */

import { moduleFile, type Expected, type Row } from "../harness.ts";

const FOLDER = "get-convex/convex-backend npm-packages/udf-runtime/src";
const EXCEPTION = `${FOLDER}/01_dom_exception.ts`;
const EVENT = `${FOLDER}/02_event.ts`;
const ABORT = `${FOLDER}/03_abort_signal.ts`;

function row(
  kind: "query" | "action",
  id: string,
  rule: string,
  citation: string,
  body: string,
  expected: Expected,
): Row {
  const files = moduleFile(
    "m",
    `const told = (work: () => unknown): any => { try { work(); return null; } catch (e: any) { return [e.name, e.message, e instanceof TypeError]; } };
export const run = ${kind}({ args: {}, handler: async (): Promise<any> => {\n${body}\n} });`,
  );
  return { id: `web-events/${id}`, rule, citation, files, steps: [{ call: kind, path: "m:run" }], expected };
}

const exceptions: readonly Row[] = [
  row(
    "query",
    "exception",
    "A DOMException has a message, a name and the code of the name, and is an error.",
    EXCEPTION,
    `const error = new DOMException("gone", "NotFoundError"); const plain = new DOMException();
return [error.message, error.name, error.code, error instanceof Error, error instanceof DOMException, String(error), plain.name, plain.message, plain.code, DOMException.ABORT_ERR, error.DATA_CLONE_ERR, typeof error.stack, Object.keys(error)];`,
    { value: ["gone", "NotFoundError", 8, true, true, "NotFoundError: gone", "Error", "", 0, 20, 25, "string", []] },
  ),
  row(
    "query",
    "exception-names",
    "A name of no error has no code.",
    EXCEPTION,
    `return ["toString", "__proto__", "constructor"].map((name) => new DOMException("", name).code);`,
    { value: [0, 0, 0] },
  ),
  row("query", "exception-thrown", "A DOMException tells its message.", EXCEPTION, `throw new DOMException("gone");`, {
    rejects: "gone",
  }),
  row(
    "query",
    "exception-tag",
    "Its objects have its tag, and its subclasses their own prototype.",
    EXCEPTION,
    `class Mine extends DOMException { extra = 1 } const mine = new Mine("m", "AbortError");
return [Object.prototype.toString.call(mine), mine instanceof Mine, mine.extra, mine.code, mine.stack!.split("\\n")[0]];`,
    { value: ["[object DOMException]", true, 1, 20, "AbortError: m"] },
  ),
];

const events: readonly Row[] = [
  row(
    "query",
    "dispatch",
    "Listeners are called in order, with the target, once each.",
    EVENT,
    `const target = new EventTarget(); const seen: any[] = []; const listener = (event: Event) => seen.push([event.type, event.target === target, event.currentTarget === target, event.eventPhase]);
target.addEventListener("go", listener); target.addEventListener("go", listener);
target.addEventListener("go", { handleEvent: (event) => { seen.push(event.isTrusted); } }, { once: true });
target.addEventListener("go", function (this: unknown) { seen.push(this === target); }, true);
const event = new Event("go"); const first = target.dispatchEvent(event); target.removeEventListener("go", listener);
return [first, target.dispatchEvent(event), seen, event.eventPhase, event.currentTarget, event.target === target];`,
    { value: [true, true, [true, ["go", true, true, 2], false, true], 0, null, true] },
  ),
  row(
    "query",
    "cancel",
    "An event that can be canceled tells that it was, but not from a passive listener.",
    EVENT,
    `const target = new EventTarget(); target.addEventListener("a", (event) => event.preventDefault()); target.addEventListener("b", (event) => event.preventDefault(), { passive: true });
return ["a", "b"].flatMap((type) => [true, false].map((cancelable) => target.dispatchEvent(new Event(type, { cancelable }))));`,
    { value: [false, true, true, true] },
  ),
  row(
    "query",
    "stop",
    "A listener can stop those after it.",
    EVENT,
    `const target = new EventTarget(); const seen: number[] = []; target.addEventListener("a", (event) => { seen.push(1); event.stopImmediatePropagation(); }); target.addEventListener("a", () => { seen.push(2); });
target.dispatchEvent(new Event("a")); target.dispatchEvent(new Event("a")); return seen;`,
    { value: [1, 1] },
  ),
  row(
    "query",
    "wrong-events",
    "Only events are dispatched, and none while it is being dispatched.",
    EVENT,
    `const target = new EventTarget(); target.addEventListener("a", (event) => target.dispatchEvent(event));
return [told(() => target.dispatchEvent(new Event("a"))), told(() => (target as any).dispatchEvent({ type: "a" }))?.[2], told(() => new (Event as any)())?.[2], told(() => (target as any).addEventListener("a"))];`,
    {
      value: [
        ["InvalidStateError", "Invalid event state.", false],
        true,
        true,
        [
          "TypeError",
          "Failed to execute 'addEventListener' on 'EventTarget': 2 arguments required, but only 1 present.",
          true,
        ],
      ],
    },
  ),
  row(
    "query",
    "time-stamp",
    "The clock of an event stands still where that of the function does.",
    EVENT,
    `return new Event("a").timeStamp === Date.now();`,
    { value: true },
  ),
  row(
    "query",
    "classes",
    "Members of the classes are enumerable; subclasses work.",
    EVENT,
    `class Mine extends EventTarget { } class Told extends Event { constructor(readonly detail: number) { super("told"); } }
const mine = new Mine(); let detail = 0; mine.addEventListener("told", (event) => { detail = (event as Told).detail; }); mine.dispatchEvent(new Told(3));
return [detail, Object.prototype.toString.call(mine), Object.keys(EventTarget.prototype), "target" in Event.prototype, Event.AT_TARGET, [DOMException, Event, EventTarget, AbortSignal, AbortController].map((one) => one.name)];`,
    {
      value: [
        3,
        "[object EventTarget]",
        ["addEventListener", "removeEventListener", "dispatchEvent"],
        true,
        2,
        ["DOMException", "Event", "EventTarget", "AbortSignal", "AbortController"],
      ],
    },
  ),
];

const aborts: readonly Row[] = [
  row(
    "query",
    "abort",
    "A controller aborts its signal once, with a reason.",
    ABORT,
    `const controller = new AbortController(); const { signal } = controller; const seen: any[] = []; signal.onabort = (event) => { seen.push(event.type, event.isTrusted); }; signal.addEventListener("abort", () => { seen.push("listener"); });
const before = [signal.aborted, signal.reason === undefined]; controller.abort("why"); controller.abort("again");
return [before, signal.aborted, signal.reason, seen, signal instanceof AbortSignal, signal instanceof EventTarget];`,
    { value: [[false, true], true, "why", ["abort", true, "listener"], true, true] },
  ),
  row(
    "query",
    "abort-reason",
    "Without a reason it is an AbortError.",
    ABORT,
    `const controller = new AbortController(); controller.abort(); return [told(() => controller.signal.throwIfAborted()), AbortSignal.abort().reason instanceof DOMException, AbortSignal.abort(1).reason, told(() => new (AbortSignal as any)())];`,
    {
      value: [["AbortError", "This operation was aborted", false], true, 1, ["TypeError", "Illegal constructor", true]],
    },
  ),
  row(
    "query",
    "abort-any",
    "A signal may follow several others.",
    ABORT,
    `const [a, b] = [new AbortController(), new AbortController()]; const any = AbortSignal.any([a.signal, b.signal]); let calls = 0; any.onabort = () => { calls++; };
b.abort("b"); a.abort("a"); return [any.aborted, any.reason, calls, AbortSignal.any([AbortSignal.abort(1)]).reason, AbortSignal.any([]).aborted, told(() => AbortSignal.any([{} as any]))?.[2]];`,
    { value: [true, "b", 1, 1, false, true] },
  ),
  row(
    "query",
    "abort-listener",
    "A signal removes a listener.",
    EVENT,
    `const controller = new AbortController(); const target = new EventTarget(); let calls = 0; target.addEventListener("a", () => { calls++; }, { signal: controller.signal });
target.dispatchEvent(new Event("a")); controller.abort(); target.dispatchEvent(new Event("a")); return calls;`,
    { value: 1 },
  ),
  row(
    "action",
    "abort-timeout",
    "In an action, a signal aborts when its time is over.",
    ABORT,
    `const signal = AbortSignal.timeout(5); await new Promise((resolve) => { signal.onabort = resolve; }); return [signal.aborted, signal.reason.name, signal.reason.message];`,
    { value: [true, "TimeoutError", "The operation was aborted due to timeout"] },
  ),
  row(
    "action",
    "abort-fetch",
    "A signal aborts a request, before it is made and while it is.",
    "get-convex/convex-backend npm-packages/udf-runtime/src/26_fetch.ts",
    `const controller = new AbortController(); const url = process.env.CONVEX_CLOUD_URL + "/version";
const late = fetch(url, { signal: controller.signal }).catch((error) => error.name); controller.abort();
const made = await fetch(url, { signal: new AbortController().signal });
return [await late, await fetch(url, { signal: AbortSignal.abort("why") }).catch((error) => error), made.status];`,
    { value: ["AbortError", "why", 200] },
  ),
  row("query", "abort-timeout-query", "Queries have no timers.", ABORT, "AbortSignal.timeout(5);", {
    rejects: "Can't use setTimeout in queries and mutations",
  }),
  {
    id: "web-events/fresh",
    rule: "What a call changes of the classes, it changes for itself.",
    citation: "get-convex/convex-backend crates/isolate/src/context_cache.rs",
    files: moduleFile(
      "m",
      `const CLASSES = [DOMException, Event, EventTarget, AbortSignal, AbortController] as any[];
const places = () => [...new Set(CLASSES.flatMap((one) => [one, one.prototype]))];
export const spoil = action({ args: {}, handler: async () => { for (const place of places()) { Object.defineProperty(place, "left", { value: 1 }); if (place !== EventTarget.prototype) Object.freeze(place); } EventTarget.prototype.dispatchEvent = () => false; return null; } });
export const look = action({ args: {}, handler: async () => [places().filter((place) => Object.hasOwn(place, "left") || Object.isFrozen(place)).length, new EventTarget().dispatchEvent(new Event("a"))] });`,
    ),
    steps: [
      { call: "action", path: "m:spoil" },
      { call: "action", path: "m:look" },
    ],
    expected: { value: [0, true] },
  },
];

export const rows: readonly Row[] = [...exceptions, ...events, ...aborts];
