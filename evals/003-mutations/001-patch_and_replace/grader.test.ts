import { addDocuments, anonymousClient, clearTables, expectError, expectFunctions, expectSameSchema, listTable } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Doc, Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();

const ADDRESS = { street: "Kirkegata 1", city: "Oslo", country: "Norway" };
const ADA = { name: "Ada", favourite: true, email: "ada@example.org", phone: "+47 1", address: ADDRESS };
const BOB = { name: "Bob", favourite: false, phone: "+47 2" };

type Update = Omit<(typeof api.contacts.update)["_args"], "contactId">;
type Contact = (typeof api.contacts.replace)["_args"]["contact"];

let ada: Doc<"contacts">;
let bob: Doc<"contacts">;

beforeEach(async () => {
  await clearTables("contacts");
  await addDocuments("contacts", [ADA, BOB]);
  [ada, bob] = (await listTable("contacts")) as [Doc<"contacts">, Doc<"contacts">];
});

/** Asserts that this is all that the table holds, and that the call returned Ada's document of it. */
async function expectStored(returned: unknown, fields: Contact, rule: string): Promise<void> {
  const expected = { _id: ada._id, _creationTime: ada._creationTime, ...fields };
  expect(await listTable("contacts"), `${rule}; no other contact may change`).toEqual([expected, bob]);
  expect(returned, `${rule}; the call must return the whole document as it is stored afterwards`).toEqual(expected);
}

async function expectUpdate(changes: Update, fields: Contact, rule: string): Promise<void> {
  await expectStored(await visitor.mutation(api.contacts.update, { contactId: ada._id, ...changes }), fields, rule);
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("both functions are public mutations", async () => {
  const publicMutation = { type: "mutation", visibility: "public" } as const;
  await expectFunctions({ "contacts:update": publicMutation, "contacts:replace": publicMutation });
});

test("update changes what is given and leaves the rest", async () => {
  await expectUpdate({ name: "Ada Lovelace" }, { ...ADA, name: "Ada Lovelace" }, "`update` with a `name` must change the name alone");
  await expectUpdate(
    { email: "al@example.org", favourite: false },
    { ...ADA, name: "Ada Lovelace", email: "al@example.org", favourite: false },
    "`update` with an `email` and false as `favourite` must change these two fields alone",
  );
});

test("update adds a field that was absent", async () => {
  const returned = await visitor.mutation(api.contacts.update, { contactId: bob._id, email: "bob@example.org", address: { street: "Via 1", city: "Roma" } });
  const expected = { ...bob, email: "bob@example.org", address: { street: "Via 1", city: "Roma" } };
  expect(await listTable("contacts"), "`update` must add the fields that the contact did not have").toEqual([ada, expected]);
  expect(returned, "`update` must return the document with the added fields").toEqual(expected);
});

test("update stores empty strings", async () => {
  await expectUpdate(
    { name: "", email: "", phone: "" },
    { ...ADA, name: "", email: "", phone: "" },
    "`update` with empty strings must store them, as they are neither absent nor null",
  );
});

test("update with null removes a field", async () => {
  const { email: _email, ...withoutEmail } = ADA;
  await expectUpdate({ email: null }, withoutEmail, "`update` with null as `email` must remove that field and no other");
  const { phone: _phone, address: _address, ...little } = withoutEmail;
  await expectUpdate({ phone: null, address: null }, little, "`update` with null as `phone` and `address` must remove both fields");
  await expectUpdate({ email: null, name: "A" }, { ...little, name: "A" }, "`update` with null for a field that is absent must leave it absent");
});

test("update replaces the address as a whole", async () => {
  const address = { street: "Via 1", city: "Roma" };
  await expectUpdate({ address }, { ...ADA, address }, "`update` with an `address` without `country` must leave no `country` behind");
});

test("update without changes leaves the contact as it is", async () => {
  await expectUpdate({}, ADA, "`update` without any field must change nothing");
});

test("replace leaves exactly the given fields", async () => {
  const contact = { name: "Countess", favourite: false, phone: "" };
  const returned = await visitor.mutation(api.contacts.replace, { contactId: ada._id, contact });
  await expectStored(returned, contact, "`replace` must remove the fields that are absent in `contact`");
  const full = { ...ADA, address: { street: "Via 1", city: "Roma" } };
  const again = await visitor.mutation(api.contacts.replace, { contactId: ada._id, contact: full });
  await expectStored(again, full, "`replace` must write all given fields");
});

test("a contact that is gone stays gone", async () => {
  const contactId = ada._id;
  await clearTables("contacts");
  expect(await visitor.mutation(api.contacts.update, { contactId, name: "Eve" }), "`update` of a contact that is gone must return null").toBeNull();
  const replaced = await visitor.mutation(api.contacts.replace, { contactId, contact: BOB });
  expect(replaced, "`replace` of a contact that is gone must return null").toBeNull();
  expect(await listTable("contacts"), "neither `update` nor `replace` may store a contact that is gone").toEqual([]);
});

test("arguments that the task does not allow are refused", async () => {
  const contactId = ada._id;
  const wrongUpdates = {
    "null as `name`": { name: null },
    "null as `favourite`": { favourite: null },
    "a number as `phone`": { phone: 5 },
    "null as `country` of the address": { address: { ...ADDRESS, country: null } },
  };
  for (const [what, changes] of Object.entries(wrongUpdates)) {
    const call = visitor.mutation(api.contacts.update, { contactId, ...(changes as unknown as Update) });
    await expectError(call, `\`update\` with ${what} must be refused`);
  }
  const wrongContacts = {
    "no `favourite`": { name: "Ada" },
    "null as `email`": { ...BOB, email: null },
    "no `city` in the address": { ...BOB, address: { street: "" } },
  };
  for (const [what, contact] of Object.entries(wrongContacts)) {
    const call = visitor.mutation(api.contacts.replace, { contactId, contact: contact as unknown as Contact });
    await expectError(call, `\`replace\` with ${what} must be refused`);
  }
  const foreign = "nonsense" as Id<"contacts">;
  const call = visitor.mutation(api.contacts.update, { contactId: foreign, name: "Eve" });
  await expectError(call, "`update` with what is no id must be refused", { by: "arguments" });
  expect(await listTable("contacts"), "calls that are refused must change nothing").toEqual([ada, bob]);
});
