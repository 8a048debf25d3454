import { addDocuments, clearTables, expectSameSchema, listFunctions, listTable, ownFields, siteUrl } from "convex-evals/grader";
import { request } from "node:http";
import { beforeEach, expect, test } from "vitest";

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

beforeEach(() => clearTables("links"));

async function send(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(siteUrl(path), { method, redirect: "manual", headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function post(body: unknown): Promise<Answer> {
  return send("POST", "/links", JSON.stringify(body), { "Content-Type": "application/json" });
}

function jsonOf(answer: Answer, what: string): unknown {
  expect(answer.headers.get("content-type"), `${what} must have the content type application/json`).toMatch(/^application\/json\b/i);
  try {
    return JSON.parse(answer.text);
  } catch {
    throw new Error(`${what} must have JSON as its body, not ${JSON.stringify(answer.text)}`);
  }
}

/** Asserts the status, and the JSON object that explains it. */
function expectRefused(answer: Answer, status: number, what: string): void {
  expect(answer.status, `${what} must be answered with status ${status}`).toBe(status);
  expect(jsonOf(answer, `The answer to ${what}`), `the body of the answer to ${what} must be an object with a text as \`error\``).toMatchObject({
    error: expect.any(String) as unknown,
  });
}

function expectAnyOrigin(answer: Answer, what: string): void {
  expect(answer.headers.get("access-control-allow-origin"), `${what} must have the header \`Access-Control-Allow-Origin: *\``).toBe("*");
}

/** The members of a header that is a list, in upper case. */
function listed(answer: Answer, header: string): string[] {
  return (answer.headers.get(header) ?? "").split(",").map((member) => member.trim().toUpperCase());
}

function link(slug: string, clicks = 0) {
  return { slug, url: `https://example.com/${slug}?from=short#top`, clicks };
}

async function storedLinks() {
  return (await listTable("links")).map(ownFields);
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("clients can call no functions", async () => {
  // Something has to be deployed before its absence means anything.
  expect((await send("GET", "/links")).status, "GET /links must be answered with status 200").toBe(200);
  const names = [...(await listFunctions()).values()].filter(({ visibility }) => visibility === "public").map(({ name }) => name);
  expect(names, "no query, mutation or action may be public").toEqual([]);
});

test("POST /links stores a link", async () => {
  const answer = await post({ slug: "docs-2", url: "https://example.com/a?b=c#d", clicks: 99, colour: "red" });
  expect(answer.status, "POST /links with a new link must be answered with status 201").toBe(201);
  const expected = { slug: "docs-2", url: "https://example.com/a?b=c#d", clicks: 0 };
  expect(jsonOf(answer, "The answer to POST /links"), "POST /links must answer with the link: slug, url and clicks").toEqual(expected);
  expectAnyOrigin(answer, "the answer to POST /links");
  expect(await storedLinks(), "POST /links must store the link, without the fields that it ignores").toEqual([expected]);
});

test("POST /links accepts the longest and the shortest slug, and both schemes", async () => {
  const longest = "a-9".repeat(13) + "z";
  for (const body of [{ slug: longest, url: "http://example.com/" }, { slug: "0", url: "https://example.com/" }]) {
    expect((await post(body)).status, `POST /links must accept the slug "${body.slug}" and the url "${body.url}"`).toBe(201);
  }
  expect(await storedLinks(), "POST /links must store both links").toHaveLength(2);
});

test("POST /links answers 400 to a body that is no link", async () => {
  const url = "https://example.com/";
  const bodies = [
    "",
    "{slug:",
    "null",
    '"docs"',
    "7",
    "[]",
    "{}",
    JSON.stringify({ slug: "docs" }),
    JSON.stringify({ url }),
    JSON.stringify({ slug: 7, url }),
    JSON.stringify({ slug: "docs", url: null }),
    JSON.stringify({ slug: "", url }),
    JSON.stringify({ slug: "Docs", url }),
    JSON.stringify({ slug: "do cs", url }),
    JSON.stringify({ slug: "docs\n", url }),
    JSON.stringify({ slug: "a".repeat(41), url }),
    JSON.stringify({ slug: "docs", url: "" }),
    JSON.stringify({ slug: "docs", url: "javascript:alert(1)" }),
    JSON.stringify({ slug: "docs", url: "see https://example.com/" }),
    JSON.stringify({ slug: "docs", url: "https://" }),
    JSON.stringify({ slug: "docs", url: "https://example.com/tomaš" }),
    JSON.stringify({ slug: "docs", url: "https://example.com/café" }),
    JSON.stringify({ slug: "docs", url: "https://example.com/a b" }),
    JSON.stringify({ slug: "docs", url: "https://example.com/\n" }),
  ];
  const answers = await Promise.all(bodies.map((body) => send("POST", "/links", body, { "Content-Type": "application/json" })));
  for (const [index, answer] of answers.entries()) {
    expectRefused(answer, 400, `POST /links with the body ${JSON.stringify(bodies[index])}`);
    expectAnyOrigin(answer, "the answer to a POST /links that is refused");
  }
  expect(await storedLinks(), "a body that is refused must not be stored").toEqual([]);
});

test("POST /links answers 409 to a slug that is taken", async () => {
  await addDocuments("links", [link("docs", 5)]);
  const answer = await post({ slug: "docs", url: "https://example.org/other" });
  expectRefused(answer, 409, "POST /links with a slug that is taken");
  expectAnyOrigin(answer, "the answer to POST /links with a slug that is taken");
  expect(await storedLinks(), "the link that has the slug already must stay as it is").toEqual([link("docs", 5)]);
});

/** The statuses of POST /links with these bodies, whose last bytes are held back until all have arrived but for them. */
async function postTogether(bodies: string[]): Promise<(number | undefined)[]> {
  const started = bodies.map((body) => {
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const outgoing = request(siteUrl("/links"), { method: "POST", headers, agent: false });
    const status = new Promise<number | undefined>((resolve, reject) => {
      outgoing.once("error", reject).once("response", (incoming) => {
        incoming.resume().once("end", () => resolve(incoming.statusCode));
      });
    });
    const arrived = new Promise((resolve) => outgoing.write(body.slice(0, -1), resolve));
    return { finish: () => outgoing.end(body.slice(-1)), status, arrived };
  });
  await Promise.all(started.map(({ arrived }) => arrived));
  for (const { finish } of started) finish();
  return await Promise.all(started.map(({ status }) => status));
}

test("one of several simultaneous links with one slug is stored", async () => {
  for (const slug of ["race-1", "race-2", "race-3"]) {
    const bodies = Array.from({ length: 10 }, (_, index) => JSON.stringify({ slug, url: `https://example.com/${index}` }));
    expect(
      (await postTogether(bodies)).sort(),
      "of ten simultaneous POST /links with one slug, one must be answered with 201 and the others with 409",
    ).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    const stored = (await storedLinks()).filter((document) => document["slug"] === slug);
    expect(stored, "only one link with this slug may be stored").toHaveLength(1);
  }
});

test("GET /links lists the newest links first", async () => {
  const empty = await send("GET", "/links");
  expect(jsonOf(empty, "The answer to GET /links"), "GET /links without links must answer with an empty array").toEqual([]);
  const links = Array.from({ length: 120 }, (_, index) => link(`link-${index}`, index % 3));
  await addDocuments("links", links);
  const newestFirst = links.toReversed();
  for (const [path, count] of [["/links", 20], ["/links?limit=1", 1], ["/links?limit=7", 7], ["/links?limit=100", 100]] as const) {
    const answer = await send("GET", path);
    expect(answer.status, `GET ${path} must be answered with status 200`).toBe(200);
    expect(jsonOf(answer, `The answer to GET ${path}`), `GET ${path} must answer with the ${count} newest links, the newest first`).toEqual(
      newestFirst.slice(0, count),
    );
    expectAnyOrigin(answer, `the answer to GET ${path}`);
  }
});

test("GET /links answers 400 to a limit that is no whole number from 1 to 100", async () => {
  for (const limit of ["0", "101", "-1", "2.5", "ten", "5x", "", "NaN"]) {
    const answer = await send("GET", `/links?limit=${limit}`);
    expectRefused(answer, 400, `GET /links?limit=${limit}`);
    expectAnyOrigin(answer, `the answer to GET /links?limit=${limit}`);
  }
});

test("DELETE /links/<slug> deletes the link", async () => {
  await addDocuments("links", [link("docs"), link("blog"), link("docs-2")]);
  const answer = await send("DELETE", "/links/docs");
  expect(answer.status, "DELETE /links/<slug> must be answered with status 204").toBe(204);
  expectAnyOrigin(answer, "the answer to DELETE /links/<slug>");
  expect(await storedLinks(), "DELETE /links/<slug> must delete this link and no other").toEqual([link("blog"), link("docs-2")]);
  const again = await send("DELETE", "/links/docs");
  expectRefused(again, 404, "DELETE /links/<slug> of a link that does not exist");
  expectAnyOrigin(again, "the answer to DELETE /links/<slug> of a link that does not exist");
});

test("GET /go/<slug> redirects and counts", async () => {
  await addDocuments("links", [link("docs", 3), link("blog")]);
  const answer = await send("GET", "/go/docs");
  expect(answer.status, "GET /go/<slug> must be answered with status 302").toBe(302);
  expect(answer.headers.get("location"), "GET /go/<slug> must redirect to the link's `url`").toBe(link("docs").url);
  expect(await storedLinks(), "GET /go/<slug> must add 1 to the clicks of its link, and change nothing else").toEqual([link("docs", 4), link("blog")]);
  expectRefused(await send("GET", "/go/nothing"), 404, "GET /go/<slug> of a link that does not exist");
});

test("every url that is accepted can be followed", async () => {
  for (const [slug, url] of [["encoded", "https://example.com/caf%C3%A9?q=%zz#100%"], ["signs", "http://example.com/{a}|[b]^`c`~\"<!>\\"]] as const) {
    expect((await post({ slug, url })).status, `POST /links must accept the url ${url}`).toBe(201);
    const answer = await send("GET", `/go/${slug}`);
    expect(answer.status, `GET /go/<slug> of a link to ${url} must be answered with status 302`).toBe(302);
    const target = new URL(answer.headers.get("location") ?? "").href;
    expect(target, `GET /go/<slug> must redirect to the link's \`url\`, ${url}`).toBe(new URL(url).href);
  }
});

test("simultaneous clicks are all counted", async () => {
  await addDocuments("links", [link("docs")]);
  const answers = await Promise.all(Array.from({ length: 10 }, () => send("GET", "/go/docs")));
  expect(answers.map(({ status }) => status), "ten simultaneous GET /go/<slug> must all redirect").toEqual(Array.from({ length: 10 }, () => 302));
  expect(await storedLinks(), "ten simultaneous clicks must all be counted").toEqual([link("docs", 10)]);
});

test("methods that /links does not have are answered with 405", async () => {
  for (const method of ["PUT", "PATCH", "DELETE"]) {
    const answer = await send(method, "/links");
    expectRefused(answer, 405, `${method} /links`);
    expectAnyOrigin(answer, `the answer to ${method} /links`);
    const allowed = listed(answer, "allow").filter((listedMethod) => listedMethod !== "HEAD");
    const rule = `the header \`Allow\` of the answer to ${method} /links must list GET, POST and OPTIONS`;
    expect(allowed.sort(), rule).toEqual(["GET", "OPTIONS", "POST"]);
  }
});

test("browsers of any origin are let through by a preflight request", async () => {
  const cases = [
    { path: "/links", methods: ["GET", "POST"] },
    { path: "/links/docs", methods: ["DELETE"] },
  ];
  for (const { path, methods } of cases) {
    for (const method of methods) {
      const answer = await send("OPTIONS", path, undefined, {
        Origin: "https://pages.example.org",
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "content-type",
      });
      const what = `the answer to a preflight request for ${method} ${path}`;
      expect(answer.status, `${what} must have status 204`).toBe(204);
      expectAnyOrigin(answer, what);
      const allowed = listed(answer, "access-control-allow-methods");
      expect(allowed.includes(method) || allowed.includes("*"), `${what} must allow ${method} in \`Access-Control-Allow-Methods\``).toBe(true);
      const headers = listed(answer, "access-control-allow-headers");
      expect(headers.includes("CONTENT-TYPE") || headers.includes("*"), `${what} must allow Content-Type in \`Access-Control-Allow-Headers\``).toBe(true);
    }
  }
});

test("all other requests are answered with 404", async () => {
  await addDocuments("links", [link("docs")]);
  for (const [method, path] of [["GET", "/"], ["GET", "/link"], ["GET", "/links/docs"], ["POST", "/go/docs"], ["GET", "/go"]] as const) {
    expect((await send(method, path)).status, `${method} ${path} must be answered with status 404`).toBe(404);
  }
  expect(await storedLinks(), "a request that is answered with 404 must change nothing").toEqual([link("docs")]);
});
