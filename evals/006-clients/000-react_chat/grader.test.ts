import {
  addDocuments,
  anonymousClient,
  clearTables,
  eventually,
  expectError,
  expectSameFunctions,
  expectSameSchema,
  listTable,
  openPage,
  ownFields,
  UNREACHABLE,
  type Page,
} from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const NAME = '[aria-label="Name"]';
const MESSAGE = '[aria-label="Message"]';
const SEND = "button[type=submit]";
const ALERT = "[role=alert]";
const SOON = { timeoutMs: 1500 };

let chat: Promise<Page> | undefined;

beforeEach(() => clearTables("messages"));

/** The app, opened once for all tests: an app that does not open is not waited for again. */
function openChat(): Promise<Page> {
  chat ??= openPage().then(async (page) => {
    const list = async () => expect(await page.texts("ul"), "the page must have one `<ul>`").toHaveLength(1);
    await eventually(list, { what: "the list of messages in the page" }).catch(async (error: unknown) => {
      const reported = (await page.errors()).join("; ") || "nothing";
      throw new Error(`${error instanceof Error ? error.message : String(error)}. The app reported: ${reported}`);
    });
    return page;
  });
  return chat;
}

async function shows(chat: Page, messages: string[], rule: string): Promise<void> {
  await eventually(async () => expect(await chat.texts("ul > li"), rule).toEqual(messages), { ...SOON, what: "the messages in the list" });
}

async function send(chat: Page, name: string, message: string): Promise<void> {
  await chat.fill(NAME, name);
  await chat.fill(MESSAGE, message);
  await eventually(async () => expect(await chat.states(SEND)).toEqual(["enabled"]), { ...SOON, what: "the button to be enabled when there are a name and a message" });
  await chat.click(SEND);
}

test("the backend is the given one", async () => {
  await expectSameSchema();
  await expectSameFunctions();
  const client = anonymousClient();
  const bodies = Array.from({ length: 51 }, (_, index) => `message ${index}`);
  await addDocuments("messages", bodies.map((body) => ({ author: "Ada", body })));
  const listed = await client.query(api.messages.list, {});
  expect(listed.map(({ body }) => body), "`messages.list` must be as given: the newest 50 messages, the newest first").toEqual(bodies.slice(1).reverse());
  await expectError(client.mutation(api.messages.send, { author: "Ada", body: "x".repeat(201) }), "`messages.send` must be as given: it refuses more than 200 characters");
});

test("until the messages arrive the page says that it is loading", async () => {
  const waiting = await openPage({ backend: UNREACHABLE });
  await eventually(async () => expect(await waiting.text()).toContain("Loading..."), { ...SOON, what: "the text Loading... before the first messages" });
  expect(await waiting.texts("ul"), "there must be no list before the first messages").toEqual([]);
  expect(await waiting.texts(SEND), "the form must be there before the first messages").toEqual(["Send"]);
});

test("the messages are listed, the oldest on top", async () => {
  await addDocuments("messages", [{ author: "Ada", body: "one" }, { author: "Bob", body: "two" }, { author: "Ada", body: "three" }]);
  const chat = await openChat();
  const inOrder = ["Ada: one", "Bob: two", "Ada: three"];
  await shows(chat, inOrder, "each message must be one `<li>` with author and body, the oldest on top");
  expect(await chat.text(), "the text Loading... must be gone when the messages are there").not.toContain("Loading...");
  // What is typed renders the page again: after an odd and after an even number of times the order must be the same.
  await chat.fill(NAME, "Ada");
  for (const [typed, state] of [["hello", "enabled"], ["", "disabled"]] as const) {
    await chat.fill(MESSAGE, typed);
    await eventually(async () => expect(await chat.states(SEND)).toEqual([state]), { ...SOON, what: `the button to be ${state}` });
    await shows(chat, inOrder, "typing must not change the order of the messages");
  }
});

test("messages of others appear without a reload", async () => {
  const chat = await openChat();
  await shows(chat, [], "without messages the list must be empty");
  expect(await chat.texts("ul"), "without messages there must be an empty `<ul>`").toEqual([""]);
  expect(await chat.text(), "the text Loading... must be gone when the messages have arrived, even if there are none").not.toContain("Loading...");
  await addDocuments("messages", [{ author: "Bob", body: "hello" }]);
  await shows(chat, ["Bob: hello"], "a message that somebody else sends must appear");
});

test("a message is sent, without white space at its ends", async () => {
  const chat = await openChat();
  await send(chat, " Ada ", "  good morning ");
  await shows(chat, ["Ada: good morning"], "the message that was sent must appear");
  expect((await listTable("messages")).map(ownFields), "the message must be sent once, name and body without white space at their ends").toEqual([
    { author: "Ada", body: "good morning" },
  ]);
  await eventually(async () => expect(await chat.values(MESSAGE)).toEqual([""]), { ...SOON, what: "the message input to be empty after sending" });
  expect(await chat.values(NAME), "the name must stay after sending").toEqual([" Ada "]);
  expect(await chat.texts(ALERT), "there must be no alert after sending").toEqual([]);
});

test("without a name or a message nothing can be sent", async () => {
  const chat = await openChat();
  for (const [name, message] of [["", ""], ["Ada", ""], ["Ada", "   "], ["", "hello"], ["  ", "hello"]] as const) {
    await chat.fill(NAME, name);
    await chat.fill(MESSAGE, message);
    await eventually(async () => expect(await chat.states(SEND)).toEqual(["disabled"]), {
      ...SOON,
      what: `the button to be disabled with the name "${name}" and the message "${message}"`,
    });
  }
});

test("a message that is refused stays where it is, with an alert until one is sent", async () => {
  const chat = await openChat();
  const long = "x".repeat(201);
  await send(chat, "Ada", long);
  await eventually(async () => expect(await chat.texts(ALERT)).toEqual(["Could not send"]), { ...SOON, what: "the alert after a message was refused" });
  expect(await chat.values(MESSAGE), "a message that was refused must stay in its input").toEqual([long]);
  await send(chat, "Ada", "short");
  await shows(chat, ["Ada: short"], "a message that was shortened must be sent");
  await eventually(async () => expect(await chat.texts(ALERT)).toEqual([]), { ...SOON, what: "the alert to go away when a message is sent" });
});
