import {
  addDocuments,
  adminClient,
  anonymousClient,
  bundleProgram,
  candidateUrl,
  clearTables,
  closeAfterRun,
  eventually,
  expectError,
  expectSameFunctions,
  expectSameSchema,
  listTable,
  openLine,
  ownFields,
  reaching,
  UNREACHABLE,
} from "convex-evals/grader";
import { fork, type ChildProcess } from "node:child_process";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

type Product = { sku: string; name: string; stock: number };

type Command =
  | { kind: "import"; url: string; products: Product[] }
  | { kind: "watch"; url: string; watch: number; limit: number }
  | { kind: "stop"; watch: number }
  | { kind: "leave" };

type Report =
  | { kind: "ready" }
  | { kind: "change"; watch: number; products: Product[] }
  | { kind: "done"; id: number; value: unknown }
  | { kind: "failed"; id: number; message: string };

const SOON = { timeoutMs: 1500 };
/** After this long without an answer of the module a test fails by name. */
const ANSWER_LIMIT_MS = 5000;

/** A program that does what the grader asks, and would end by itself when it is asked nothing more. */
const SOURCE = `
  import * as sync from "./src/sync.ts";
  const watches = new Map();
  const functions = {
    import: ({ url, products }) => sync.importStock(url, products),
    watch: async ({ url, watch, limit }) => {
      watches.set(watch, await sync.watchLow(url, limit, (products) => process.connected && process.send({ kind: "change", watch, products })));
    },
    stop: async ({ watch }) => {
      await watches.get(watch)();
    },
    leave: () => process.disconnect(),
  };
  process.on("message", async ({ id, command }) => {
    const report = await new Promise((settled) => settled(functions[command.kind](command))).then(
      (value) => ({ kind: "done", id, value }),
      (error) => ({ kind: "failed", id, message: String(error) }),
    );
    if (process.connected) process.send(report);
  });
  process.send({ kind: "ready" });
`;

/** A process that uses the candidate's module. */
class Program {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #changes = new Map<number, Product[][]>();
  #asked = 0;
  #errors = "";
  readonly #url: string;
  readonly #ready = Promise.withResolvers<void>();

  constructor(file: string, url: string) {
    this.#url = url;
    this.#child = fork(file, { ...reaching(url), env: {}, execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(0, 2000);
    });
    this.#child.on("message", (report: Report) => this.#receive(report));
    this.#child.on("close", (code) => {
      const reason = `the program ended (code ${code}), which the module must not bring about. It reported: ${this.#errors.trim() || "nothing"}`;
      for (const { reject } of [this.#ready, ...this.#waiting.values()]) reject(new Error(reason));
      this.#waiting.clear();
    });
    closeAfterRun(() => this.#child.kill("SIGKILL"));
  }

  ready(): Promise<void> {
    return this.#ready.promise;
  }

  async import(products: Product[]): Promise<unknown> {
    return await this.#ask({ kind: "import", url: this.#url, products });
  }

  async watch(watch: number, limit: number): Promise<void> {
    await this.#ask({ kind: "watch", url: this.#url, watch, limit });
  }

  async stop(watch: number): Promise<void> {
    await this.#ask({ kind: "stop", watch });
  }

  /** What `onChange` was called with, in the order of the calls: SKUs and stocks. */
  changes(watch: number): string[][] {
    return (this.#changes.get(watch) ?? []).map((products) => products.map(({ sku, stock }) => `${sku} ${stock}`));
  }

  /** Waits until the newest call of `onChange` was made with these. */
  async sees(watch: number, products: string[], what: string): Promise<void> {
    await eventually(() => expect(this.changes(watch).at(-1), "SKUs and stocks in the last call of `onChange`").toEqual(products), { ...SOON, what });
  }

  /** Waits until the program, which does nothing more, has ended. */
  async ends(after: string): Promise<void> {
    void this.#ask({ kind: "leave" }).catch(() => undefined);
    const what = `the program to end by itself ${after}: no connection and no timer may be left`;
    await eventually(() => expect(this.#child.exitCode, "exit code of the program, null while it runs").toBe(0), { ...SOON, what });
  }

  async #ask(command: Command): Promise<unknown> {
    this.#asked += 1;
    const id = this.#asked;
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      timer = setTimeout(() => reject(new Error(`${command.kind} was not done within ${ANSWER_LIMIT_MS / 1000} s`)), ANSWER_LIMIT_MS);
      this.#child.send({ id, command }, (error) => error && reject(error));
    });
    return await answer.finally(() => clearTimeout(timer));
  }

  #receive(report: Report): void {
    if (report.kind === "change") {
      this.#changes.set(report.watch, [...(this.#changes.get(report.watch) ?? []), report.products]);
      return;
    }
    if (report.kind === "ready") {
      this.#ready.resolve();
      return;
    }
    const waiting = this.#waiting.get(report.id);
    this.#waiting.delete(report.id);
    if (report.kind === "done") waiting?.resolve(report.value);
    else waiting?.reject(new Error(report.message));
  }
}

let built: Promise<string> | undefined;

/** Starts a program with the candidate's module, which is bundled once for all tests; it reaches this address alone. */
async function startProgram(url = candidateUrl()): Promise<Program> {
  built ??= bundleProgram(SOURCE, "`src/sync.ts`");
  const program = new Program(await built, url);
  await program.ready();
  return program;
}

beforeEach(() => clearTables("products"));

function product(sku: string, stock: number, name = `Product ${sku}`): Product {
  return { sku, name, stock };
}

async function stored(): Promise<unknown[]> {
  return (await listTable("products")).map(ownFields);
}

test("the backend is the given one", async () => {
  await expectSameSchema();
  await expectSameFunctions();
  const client = anonymousClient();
  const save = (sku: string, stock: number) => client.mutation(api.products.save, { sku, name: sku, stock });
  const saved = [await save("c", 3), await save("a", 5), await save("b", 2), await save("a", 1)];
  expect(saved, "`products.save` must be as given: whether the product is a new one").toEqual([true, true, true, false]);
  const low = await client.query(api.products.low, { limit: 2 });
  expect(low.map(({ sku, stock }) => [sku, stock]), "`products.low` must be as given: products of which there are few, by SKU").toEqual([["a", 1], ["b", 2]]);
  await expectError(save("d", -1), "`products.save` must be as given: a negative stock is refused");
});

test("an import stores new products and replaces known ones, and lets the program end", async () => {
  await addDocuments("products", [product("b", 1, "old")]);
  const program = await startProgram();
  const result = await program.import([product("a", 5), product("b", 6), product("c", 7)]);
  expect(result, "`importStock` must return the numbers of created and updated products, and no refused ones").toEqual({ created: 2, updated: 1, refused: [] });
  expect(await stored(), "all products must be stored when the promise is fulfilled").toEqual([product("b", 6), product("a", 5), product("c", 7)]);
  await program.ends("after an import");
});

test("an import of nothing has zeros and no SKUs", async () => {
  expect(await (await startProgram()).import([]), "`importStock` with an empty array must return zeros").toEqual({ created: 0, updated: 0, refused: [] });
});

test("of a SKU that is imported twice the later one is stored", async () => {
  const products = [...Array.from({ length: 8 }, (_, index) => product("a", index)), product("b", 1)];
  const result = await (await startProgram()).import(products);
  expect(result, "`importStock` must count the first call for a SKU as created, and the others as updated").toEqual({ created: 2, updated: 7, refused: [] });
  expect(await stored(), "the last product with a SKU must be the one that is stored").toEqual([product("a", 7), product("b", 1)]);
});

test("refused products are named, and do not keep the others from being stored", async () => {
  const program = await startProgram();
  const result = await program.import([product("z", -1), product("b", 2), product("a", -3), product("c", 0)]);
  expect(result, "`importStock` must return the SKUs of refused products, in the order of the array").toEqual({ created: 2, updated: 0, refused: ["z", "a"] });
  expect(await stored(), "products that are not refused must be stored").toEqual([product("b", 2), product("c", 0)]);
});

test("an import is rejected when the backend cannot be reached", async () => {
  const program = await startProgram(UNREACHABLE);
  let outcome = "pending";
  void program.import([product("a", 1)]).then(
    (result) => (outcome = `fulfilled with ${JSON.stringify(result)}`),
    () => (outcome = "rejected"),
  );
  const rule = "the promise of `importStock` must be rejected when the backend cannot be reached";
  await eventually(() => expect(outcome, rule).toBe("rejected"), { ...SOON, what: "the import to be rejected when the backend cannot be reached" });
});

test("a watch is told what there is, and what changes", async () => {
  const line = await openLine();
  await addDocuments("products", [product("b", 3), product("a", 1), product("c", 9)]);
  const program = await startProgram(line.url);
  await program.watch(1, 3);
  await program.sees(1, ["a 1", "b 3"], "`onChange` to be called with what there is at first");
  // From here on no request reaches the backend: only what it sends by itself arrives.
  line.hold();
  await adminClient().mutation(api.products.save, product("c", 2));
  await program.sees(1, ["a 1", "b 3", "c 2"], "`onChange` to be called after a change, without asking the backend again");
  await adminClient().mutation(api.products.save, product("a", 50));
  await program.sees(1, ["b 3", "c 2"], "`onChange` to be called after another change, without asking the backend again");
  line.release();
  await program.stop(1);
  await program.ends("after its watch was ended");
});

test("ending a watch does not affect the others", async () => {
  await addDocuments("products", [product("a", 1), product("b", 5)]);
  const program = await startProgram();
  await program.watch(1, 3);
  await program.watch(2, 9);
  await program.watch(3, 3);
  await program.sees(1, ["a 1"], "the first of three watches to be told what there is");
  await program.sees(2, ["a 1", "b 5"], "the second of three watches, with another limit, to be told what there is");
  await program.sees(3, ["a 1"], "the third of three watches, with the limit of the first, to be told what there is");
  await program.stop(1);
  const before = program.changes(1).length;
  await adminClient().mutation(api.products.save, product("a", 2));
  await program.sees(2, ["a 2", "b 5"], "a watch to be told of a change after another one was ended");
  await program.sees(3, ["a 2"], "a watch to be told of a change after another one with the same limit was ended");
  expect(program.changes(1).length, "`onChange` must not be called after its watch was ended").toBe(before);
});

test("a watch can be ended before anything has arrived", async () => {
  const line = await openLine();
  const program = await startProgram(line.url);
  line.hold();
  await program.watch(1, 3);
  const stopped = program.stop(1);
  line.release();
  await stopped;
  await program.ends("after a watch was ended before anything had arrived");
  expect(program.changes(1), "`onChange` must not be called after its watch was ended").toEqual([]);
});
