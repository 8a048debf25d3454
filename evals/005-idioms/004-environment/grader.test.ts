import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ADMIN_KEY, anonymousClient, candidateUrl, closeAfterRun, expectError, expectFunctions, listCallable } from "convex-evals/grader";
import { ConvexError, type Value } from "convex/values";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const visitor = anonymousClient();

const REQUIRED = ["MAIL_URL", "MAIL_API_KEY", "MAIL_TO"] as const;
const API_KEY = "mk_live_51Hx9";
const MAIL_TO = "owner@shop.example.com";

type Variables = Partial<Record<(typeof REQUIRED)[number] | "MAX_LENGTH", string>>;

/** One request as the mail provider saw it. */
interface Mail {
  method: string | undefined;
  path: string | undefined;
  authorization: string | undefined;
  contentType: string | undefined;
  body: string;
}

const mails: Mail[] = [];
let mailUrl = "";
let status = 200;

beforeAll(async () => {
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      mails.push({ method, path, authorization: headers.authorization, contentType: headers["content-type"], body });
      // A provider that says too much: the answer holds what visitors must not learn.
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify({ key: headers.authorization, to: MAIL_TO }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfterRun(() => {
    server.closeAllConnections();
    server.close();
  });
  mailUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/mails?site=3`;
});

/** Sets the deployment's variables as `npx convex env set` does it; those that are left out are removed. */
async function configure(variables: Variables): Promise<void> {
  const changes = [...REQUIRED, "MAX_LENGTH" as const].map((name) => ({ name, value: variables[name] ?? null }));
  const response = await fetch(`${candidateUrl()}/api/update_environment_variables`, {
    method: "POST",
    headers: { Authorization: `Convex ${ADMIN_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({ changes }),
  });
  if (!response.ok) throw new Error(`the deployment's variables cannot be set: ${response.status} ${await response.text()}`);
}

function complete(): Variables {
  return { MAIL_URL: mailUrl, MAIL_API_KEY: API_KEY, MAIL_TO };
}

beforeEach(async () => {
  mails.length = 0;
  status = 200;
  await configure(complete());
});

/** Asserts that a call throws a ConvexError with this data, which says nothing else. */
async function expectData(call: Promise<unknown>, data: object, rule: string): Promise<void> {
  const error = await expectError(call, rule);
  expect(error instanceof ConvexError, `${rule} by a \`ConvexError\`; it was: ${error.message}`).toBe(true);
  expect((error as ConvexError<Value>).data, `${rule}, with this \`data\``).toEqual(data);
  for (const secret of [mailUrl, API_KEY, MAIL_TO]) {
    expect(error.message, "an error must not tell visitors the value of a variable").not.toContain(secret);
  }
}

test("the two functions are registered as described", () =>
  expectFunctions({ "contact:form": { type: "query", visibility: "public" }, "contact:send": { type: "action", visibility: "public" } }));

test("visitors can call form and send, and nothing else", async () => {
  expect(await listCallable(), "clients may call these two functions and no others, in any module or over HTTP").toEqual([
    "contact:form (query)",
    "contact:send (action)",
  ]);
});

test("form tells whether the form is open, and nothing secret", async () => {
  const returned = "`form` must return exactly `open` and `maxLength`";
  expect(await visitor.query(api.contact.form, {}), returned).toEqual({ open: true, maxLength: 500 });
  await configure({});
  const closed = "`form` must say that the form is not open while nothing is configured";
  expect(await visitor.query(api.contact.form, {}), closed).toEqual({ open: false, maxLength: 500 });
});

test("form is open only while all required variables have a value", async () => {
  for (const name of REQUIRED) {
    for (const value of [undefined, ""]) {
      await configure({ ...complete(), [name]: value });
      const { open } = await visitor.query(api.contact.form, {});
      expect(open, `\`open\` must be false while \`${name}\` is ${value === "" ? "empty" : "missing"}`).toBe(false);
    }
    await configure(complete());
    expect((await visitor.query(api.contact.form, {})).open, `\`open\` must be true again when \`${name}\` is set`).toBe(true);
  }
});

test("form returns the greatest length as a number", async () => {
  for (const value of ["1", "20", "1000"]) {
    await configure({ ...complete(), MAX_LENGTH: value });
    const { maxLength } = await visitor.query(api.contact.form, {});
    expect(maxLength, `\`maxLength\` must be the number ${value} while \`MAX_LENGTH\` is "${value}"`).toBe(Number(value));
  }
  await configure({ ...complete(), MAX_LENGTH: "" });
  expect((await visitor.query(api.contact.form, {})).maxLength, "`maxLength` must be 500 while `MAX_LENGTH` is empty").toBe(500);
});

test("a MAX_LENGTH that is no such number is reported", async () => {
  const data = { code: "bad_configuration", variable: "MAX_LENGTH" };
  for (const value of ["0", "-5", "1.5", "12px", "1e3", "many"]) {
    await configure({ ...complete(), MAX_LENGTH: value });
    await expectData(visitor.query(api.contact.form, {}), data, `\`form\` must throw while \`MAX_LENGTH\` is "${value}"`);
    await expectData(visitor.action(api.contact.send, { text: "hi" }), data, `\`send\` must throw while \`MAX_LENGTH\` is "${value}"`);
  }
  expect(mails, "with a bad `MAX_LENGTH` nothing may be sent").toEqual([]);
});

test("send hands the text to the mail provider", async () => {
  const text = 'Hello "owner",\nis it open on Sunday? ü';
  expect(await visitor.action(api.contact.send, { text }), "`send` must return null").toBeNull();
  expect(mails.length, "`send` must ask the mail provider once").toBe(1);
  const [mail] = mails;
  const { method, path, authorization } = mail ?? {};
  expect({ method, path, authorization }, "the provider must be asked by POST at `MAIL_URL`, with `MAIL_API_KEY`").toEqual({
    method: "POST",
    path: "/v1/mails?site=3",
    authorization: `Bearer ${API_KEY}`,
  });
  expect(mail?.contentType, "the request must have the content type of JSON").toMatch(/^application\/json\b/);
  expect(JSON.parse(mail?.body ?? "null"), "the body must hold `to` and `text`").toEqual({ to: MAIL_TO, text });
});

test("send uses the variables as they are when it is called", async () => {
  await visitor.action(api.contact.send, { text: "first" });
  await configure({ ...complete(), MAIL_API_KEY: "mk_live_new", MAIL_TO: "other@shop.example.com" });
  await visitor.action(api.contact.send, { text: "second" });
  const seen = mails.map(({ authorization, body }) => ({ authorization, ...(JSON.parse(body) as object) }));
  expect(seen, "a changed variable must be used by the next call").toEqual([
    { authorization: `Bearer ${API_KEY}`, to: MAIL_TO, text: "first" },
    { authorization: "Bearer mk_live_new", to: "other@shop.example.com", text: "second" },
  ]);
});

test("send names all required variables that are missing", async () => {
  const cases: [Variables, string[]][] = [
    [{}, ["MAIL_URL", "MAIL_API_KEY", "MAIL_TO"]],
    [{ MAIL_API_KEY: API_KEY }, ["MAIL_URL", "MAIL_TO"]],
    [{ MAIL_URL: mailUrl, MAIL_TO }, ["MAIL_API_KEY"]],
    [{ ...complete(), MAIL_URL: "" }, ["MAIL_URL"]],
    [{ ...complete(), MAIL_TO: "" }, ["MAIL_TO"]],
  ];
  for (const [variables, missing] of cases) {
    await configure(variables);
    const call = visitor.action(api.contact.send, { text: "hi" });
    await expectData(call, { code: "not_configured", missing }, `\`send\` must throw while ${missing.join(" and ")} are missing or empty`);
  }
  expect(mails, "without a required variable nothing may be sent").toEqual([]);
});

test("send refuses empty and too long texts", async () => {
  const bad = { code: "bad_text" };
  await expectData(visitor.action(api.contact.send, { text: "" }), bad, "an empty text must be refused");
  await expectData(visitor.action(api.contact.send, { text: "x".repeat(501) }), bad, "without `MAX_LENGTH` a text of 501 characters must be refused");
  await configure({ ...complete(), MAX_LENGTH: "9" });
  await expectData(visitor.action(api.contact.send, { text: "x".repeat(10) }), bad, 'with a `MAX_LENGTH` of "9" a text of 10 characters must be refused');
  expect(mails, "a refused text must not be sent").toEqual([]);
  await visitor.action(api.contact.send, { text: "x".repeat(9) });
  await configure(complete());
  await visitor.action(api.contact.send, { text: "x".repeat(500) });
  expect(mails.length, "texts of exactly the greatest length must be sent").toBe(2);
});

test("blanks are a part of the text", async () => {
  await configure({ ...complete(), MAX_LENGTH: "9" });
  const long = visitor.action(api.contact.send, { text: "  x\n      " });
  await expectData(long, { code: "bad_text" }, "a text of 10 characters, most of them blanks, must be refused while 9 are allowed");
  expect(mails, "a refused text must not be sent").toEqual([]);
  for (const text of ["  hi \n", " "]) await visitor.action(api.contact.send, { text });
  const sent = mails.map(({ body }) => (JSON.parse(body) as { text: unknown }).text);
  expect(sent, "texts must be sent as they are, with blanks at their ends, and blanks only are not empty").toEqual(["  hi \n", " "]);
});

test("the first error that fits is thrown", async () => {
  await configure({ MAX_LENGTH: "many" });
  const missing = [...REQUIRED];
  const first = visitor.action(api.contact.send, { text: "" });
  await expectData(first, { code: "not_configured", missing }, "missing variables must be reported before anything else");
  await configure({ ...complete(), MAX_LENGTH: "many" });
  const data = { code: "bad_configuration", variable: "MAX_LENGTH" };
  await expectData(visitor.action(api.contact.send, { text: "" }), data, "a bad `MAX_LENGTH` must be reported before a bad text");
});

test("send tells the provider's status when the message was not sent", async () => {
  for (const answered of [503, 401, 202]) {
    status = answered;
    const call = visitor.action(api.contact.send, { text: "hi" });
    await expectData(call, { code: "not_sent", status: answered }, `\`send\` must throw when the provider answers with ${answered}`);
  }
});

test("a text that is no string is refused", async () => {
  await expectError(visitor.action(api.contact.send, { text: 5 as unknown as string }), "`send` with a number as `text` must be refused");
  expect(mails, "a refused call must send nothing").toEqual([]);
});
