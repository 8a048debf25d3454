import { internal } from "../_generated/api";
import type { MutationCtx } from "../_generated/server";

/** Handles the customers after `after`, and leaves the others to the next step. */
export async function handleBatch({ db, scheduler }: MutationCtx, { after, batchSize }: { after: number; batchSize: number }) {
  const customers = await db
    .query("customers")
    .withIndex("by_creation_time", (q) => q.gt("_creationTime", after))
    .order("asc")
    .take(batchSize);
  await Promise.all(customers.map(({ _id, email }) => db.patch("customers", _id, { emailKey: email.toLowerCase().trim() })));
  const state = await db.query("state").unique();
  if (state === null) throw new Error("no run has been started");
  const last = customers.at(-1);
  await db.patch("state", state._id, { handled: state.handled + customers.length, running: last !== undefined });
  if (last !== undefined) await scheduler.runAfter(0, internal.steps.next, { after: last._creationTime, batchSize });
}
