import { addDocuments, clearTables, expectError, expectSameSchema, listTable, ownFields } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";

const customer = { name: "Ada", email: "ada@example.com" };
let customerId: string;
let parcelId: string;

/** The id of a document that was stored just now. */
async function stored(table: string, document: Record<string, unknown>): Promise<string> {
  await addDocuments(table, [document as Record<string, never>]);
  const newest = (await listTable(table)).at(-1);
  if (newest === undefined) throw new Error(`The table \`${table}\` must hold what was stored in it`);
  return newest._id;
}

async function refused(table: string, document: Record<string, unknown>, rule: string): Promise<void> {
  await expectError(addDocuments(table, [document as Record<string, never>]), `The table \`${table}\` must refuse ${rule}`);
}

beforeEach(async () => {
  await clearTables("customers", "parcels", "events");
  customerId = await stored("customers", customer);
  parcelId = await stored("parcels", { customerId, weightGrams: 500, labels: [] });
});

test("the indexes are defined, under the names of the task", () => expectSameSchema({ documents: "ignored", indexes: "names" }));

test("customers have a name, an e-mail address and perhaps an address", async () => {
  await stored("customers", { ...customer, address: { street: "Main Street 1", city: "Oslo" } });
  await refused("customers", { name: "Ada" }, "a customer without `email`");
  await refused("customers", { ...customer, address: null }, "a customer whose `address` is null: it is absent instead");
  await refused("customers", { ...customer, address: { street: "Main Street 1" } }, "an address without `city`");
  await refused("customers", { ...customer, phone: "1" }, "a field that the task does not describe");
});

test("parcels belong to a customer", async () => {
  await stored("parcels", { customerId, weightGrams: 1.5, labels: ["fragile", "gift"] });
  await refused("parcels", { customerId: parcelId, weightGrams: 1, labels: [] }, "the id of another table as `customerId`");
  await refused("parcels", { customerId: "Ada", weightGrams: 1, labels: [] }, "a name as `customerId`");
  await refused("parcels", { customerId, weightGrams: "1", labels: [] }, "a string as `weightGrams`");
  await refused("parcels", { customerId, weightGrams: 1 }, "a parcel without `labels`: a parcel without labels has an empty list");
  await refused("parcels", { customerId, weightGrams: 1, labels: [1] }, "labels that are no strings");
});

const accepted = [
  { type: "pickedUp", courier: "Grace" },
  { type: "delivered", place: "door", signedBy: "Ada" },
  { type: "delivered", place: "locker", signedBy: null },
  { type: "delivered", place: "neighbour", signedBy: "Alan" },
  { type: "failed", reason: "nobody at home" },
  { type: "failed", reason: "nobody at home", retryAt: 2 },
];

test.each(accepted)("events accept the details %j", async (details) => {
  const event = { parcelId, at: 1, details };
  await addDocuments("events", [event]);
  expect((await listTable("events")).map(ownFields), "the event must be stored as it was written").toEqual([event]);
});

const refusedDetails = [
  [{ type: "lost" }, "an unknown `type`"],
  [{ courier: "Grace" }, "details without `type`"],
  [{ type: "pickedUp" }, 'details of type "pickedUp" without `courier`'],
  [{ type: "pickedUp", courier: "Grace", reason: "late" }, 'details of type "pickedUp" with a field of another type'],
  [{ type: "delivered", place: "roof", signedBy: null }, "an unknown `place`"],
  [{ type: "delivered", place: "door" }, 'details of type "delivered" without `signedBy`'],
  [{ type: "failed", retryAt: 2 }, 'details of type "failed" without `reason`'],
  [{ type: "failed", reason: "closed", retryAt: null }, "null as `retryAt`: it is absent instead"],
] as const;

test.each(refusedDetails)("events refuse the details %j", async (details, rule) => {
  await refused("events", { parcelId, at: 1, details }, rule);
});

test("events belong to a parcel", async () => {
  await refused("events", { parcelId: customerId, at: 1, details: accepted[0] }, "the id of another table as `parcelId`");
});
