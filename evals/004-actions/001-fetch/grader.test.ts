import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  addDocuments,
  anonymousClient,
  clearTables,
  closeAfterRun,
  eventually,
  expectSameSchema,
  listCallable,
  listTable,
  ownFields,
} from "convex-evals/grader";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

type Product = { sku: string; name: string; cents: number };
type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

const visitor = anonymousClient();
const token = "t0ken/with+signs=";
let origin = "";

/** How the supplier's service answers, and what it was asked; set by each test under a path of its own. */
const services = new Map<string, { answer: Answer; requests: IncomingMessage[] }>();
let started = 0;

beforeAll(async () => {
  const server = createServer((request, response) => {
    const service = services.get(/^\/[^/?]*/.exec(request.url ?? "")?.[0] ?? "");
    if (service === undefined) return void response.writeHead(404).end();
    service.requests.push(request);
    void service.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfterRun(() => {
    server.close();
    server.closeAllConnections();
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => clearTables("products"));

/** Starts a service of the supplier, and returns its base URL with the requests that it gets. */
function serve(answer: Answer) {
  started += 1;
  const service = { answer, requests: [] as IncomingMessage[] };
  services.set(`/v${started}`, service);
  return { baseUrl: `${origin}/v${started}`, requests: service.requests };
}

function product(sku: string, cents = 100): Product {
  return { sku, name: `Product ${sku}`, cents };
}

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** Answers with these pages; a page that does not exist, and every other request, with 404. */
function pagesOf(...pages: unknown[][]): Answer {
  return (request, response) => {
    const number = pageNumber(request);
    const products = request.method === "GET" && number !== undefined ? pages[number - 1] : undefined;
    if (products === undefined) return sendJson(response, { error: "there is no such page" }, 404);
    sendJson(response, { products, nextPage: number === pages.length ? null : (number ?? 0) + 1 });
  };
}

function pageNumber(request: IncomingMessage): number | undefined {
  const url = new URL(request.url ?? "/", origin);
  const page = url.searchParams.get("page");
  return /^\/v\d+\/products$/.test(url.pathname) && page !== null ? Number(page) : undefined;
}

async function stored(): Promise<unknown[]> {
  return (await listTable("products")).map(ownFields).sort((a, b) => ((a["sku"] as string) < (b["sku"] as string) ? -1 : 1));
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("clients can call the action and the query, and nothing else", async () => {
  expect(await listCallable(), "clients must be able to call these functions and nothing else").toEqual(["products:list (query)", "products:sync (action)"]);
});

test("sync reads all pages with the token and stores their products", async () => {
  const { baseUrl, requests } = serve(pagesOf([product("C", 3), product("A", 1.5)], [product("B", 2)], [product("D", 0)]));
  const count = await visitor.action(api.products.sync, { baseUrl, token });
  const wanted = [product("A", 1.5), product("B", 2), product("C", 3), product("D", 0)];
  expect(await stored(), "`products` must have the products of all three pages").toEqual(wanted);
  expect(count, "`sync` must return the number of products in the list").toBe(4);
  expect(requests.map(pageNumber), "`sync` must ask for the pages 1, 2 and 3 at `<baseUrl>/products?page=`").toEqual([1, 2, 3]);
  const sent = requests.map(({ headers }) => headers.authorization);
  expect(sent, "each page must be asked for with the header `Authorization: Bearer <token>`").toEqual(sent.map(() => `Bearer ${token}`));
});

test("sync ignores further fields of pages and products", async () => {
  const { baseUrl } = serve((_, response) =>
    sendJson(response, { total: 1, products: [{ ...product("A"), stock: 5, tags: ["new"] }], nextPage: null, generatedAt: "today" }),
  );
  await visitor.action(api.products.sync, { baseUrl, token });
  expect(await stored(), "further fields of the supplier's products must not be stored, and be no error").toEqual([product("A")]);
});

test("sync inserts, updates in place and deletes", async () => {
  await addDocuments("products", [product("stays"), product("dearer", 10), product("gone")]);
  const before = new Map((await listTable("products")).map((document) => [document["sku"], document._id]));
  const { baseUrl } = serve(pagesOf([product("new")], [{ ...product("dearer", 20), name: "Renamed" }, product("stays")]));
  const count = await visitor.action(api.products.sync, { baseUrl, token });
  const wanted = [{ ...product("dearer", 20), name: "Renamed" }, product("new"), product("stays")];
  expect(await stored(), "after `sync` the table must have exactly the products of the list, with its names and prices").toEqual(wanted);
  expect(count, "`sync` must return the number of products in the list, not of those that changed").toBe(3);
  for (const document of await listTable("products")) {
    if (document["sku"] === "new") continue;
    expect(document._id, "a product that is in both lists must keep its `_id`").toBe(before.get(document["sku"]));
  }
});

test("an empty list deletes all products", async () => {
  await addDocuments("products", [product("A"), product("B")]);
  const { baseUrl } = serve(pagesOf([]));
  expect(await visitor.action(api.products.sync, { baseUrl, token }), "`sync` of an empty list must return 0").toBe(0);
  expect(await stored(), "after `sync` of an empty list there must be no products").toEqual([]);
});

test("a list of 500 products is stored whole", async () => {
  const all = Array.from({ length: 500 }, (_, index) => product(String(index).padStart(3, "0"), index));
  const { baseUrl } = serve(pagesOf(all.slice(0, 250), all.slice(250)));
  await visitor.action(api.products.sync, { baseUrl, token });
  expect((await stored()).length, "`products` must have all 500 products of the list").toBe(500);
});

const failures: [string, Answer][] = [
  ["with the status 500 and a body like a page", (_, response) => sendJson(response, { products: [product("X")], nextPage: null }, 500)],
  ["with the status 202 and an empty page", (_, response) => sendJson(response, { products: [], nextPage: null }, 202)],
  ["with the status 401 and an empty page", (_, response) => sendJson(response, { products: [], nextPage: null }, 401)],
  ["with the status 404 and no body", (_, response) => void response.writeHead(404).end()],
  ["with the status 200 and a body that is not JSON", (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>Soon back</p>")],
  ["by closing the connection", (request) => void request.socket.destroy()],
];

test.each(failures)("sync fails and changes nothing when a page is answered %s", async (how, fail) => {
  const old = [product("A"), product("B")];
  await addDocuments("products", old);
  for (const failing of [1, 2]) {
    const good = pagesOf([product("A", 5), product("C")], [product("D")]);
    const { baseUrl, requests } = serve((request, response) => (pageNumber(request) === failing ? fail(request, response) : good(request, response)));
    const outcome = await visitor.action(api.products.sync, { baseUrl, token }).then(
      (count) => `it returned ${JSON.stringify(count)}`,
      () => "it threw an error",
    );
    expect(requests.map(pageNumber), `\`sync\` must ask for page ${failing}`).toContain(failing);
    expect(outcome, `\`sync\` must throw an error when page ${failing} is answered ${how}`).toBe("it threw an error");
    expect(await stored(), `\`products\` must stay as it was when page ${failing} is answered ${how}`).toEqual(old);
  }
});

/** Nobody gets past this gate before so many have come to it. */
function gateOf(count: number): () => Promise<void> {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let waiting = 0;
  return async () => {
    waiting += 1;
    if (waiting === count) open();
    await opened;
  };
}

/** Answers with these products on one page, once the gate lets it through. */
function listBehind(gate: () => Promise<void>, products: Product[]): Answer {
  const list = pagesOf(products);
  return async (request, response) => {
    await gate();
    await list(request, response);
  };
}

test("several syncs at the same time store each product once", async () => {
  const { baseUrl } = serve(listBehind(gateOf(3), [product("A"), product("B")]));
  await Promise.all(Array.from({ length: 3 }, () => visitor.action(api.products.sync, { baseUrl, token })));
  expect(await stored(), "three calls of `sync` at the same time must store each `sku` once").toEqual([product("A"), product("B")]);
});

test("nothing of a new list is seen before all of it is there", async () => {
  const old = [product("A"), product("B"), product("C")];
  const next = [product("B", 5), product("C"), product("D"), product("E")];
  await addDocuments("products", old);
  let seen: unknown;
  const list = pagesOf(next.slice(0, 2), next.slice(2));
  const { baseUrl } = serve(async (request, response) => {
    if (pageNumber(request) === 2) seen = await visitor.query(api.products.list, {}).catch(String);
    await list(request, response);
  });
  await visitor.action(api.products.sync, { baseUrl, token });
  expect(seen, "while the second page of two is still to come, `list` must return the old products").toEqual(old);
  expect(await visitor.query(api.products.list, {}), "after `sync`, `list` must return the new products").toEqual(next);
});

test("two lists are never mixed", async () => {
  const lists = {
    first: ["A", "B", "C", "D"].map((sku) => product(sku, 1)),
    second: ["C", "D", "E", "F"].map((sku) => product(sku, 2)),
  };
  const names = new Map(Object.entries(lists).map(([name, products]) => [JSON.stringify(products), name]));
  const nameOf = (products: Product[]): string => {
    const text = JSON.stringify(products.map(({ sku, name, cents }) => ({ sku, name, cents })));
    return names.get(text) ?? `a list that nobody sent: ${text}`;
  };
  await addDocuments("products", lists.first);
  const watch = visitor.watch(api.products.list, {});
  await eventually(() => watch.latest() !== undefined, { what: "the first result of `list`" });
  for (let round = 0; round < 3; round++) {
    // All get their lists at once: what one does in two steps, the others come between.
    const gate = gateOf(6);
    const services = [lists.second, lists.first].map((products) => serve(listBehind(gate, products)));
    const syncs = [...services, ...services, ...services].map(({ baseUrl }) => visitor.action(api.products.sync, { baseUrl, token }));
    await Promise.all(syncs);
    const rule = "after calls of `sync` at the same time for two lists, `products` must be one of the two lists, not a mixture";
    expect(["first", "second"], rule).toContain(nameOf(await visitor.query(api.products.list, {})));
  }
  watch.stop();
  const strange = watch.history().map(nameOf).filter((name) => !(name in lists));
  expect(strange, "`products` must change from one list to the other at once, whoever looks").toEqual([]);
});

test("list returns the products ordered by sku, without ids", async () => {
  expect(await visitor.query(api.products.list, {}), "`list` without products must return an empty list").toEqual([]);
  await addDocuments("products", [product("B2"), product("C"), product("A"), product("B1")]);
  const wanted = ["A", "B1", "B2", "C"].map((sku) => product(sku));
  expect(await visitor.query(api.products.list, {}), "`list` must return all products as `{ sku, name, cents }`, ordered by `sku`").toEqual(wanted);
});
