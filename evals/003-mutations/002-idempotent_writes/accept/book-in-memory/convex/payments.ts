import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { openBook } from "./book";
import { payment } from "./schema";

export const record = mutation({
  args: payment.fields,
  returns: v.object({ paymentId: v.id("payments"), created: v.boolean() }),
  handler: async (ctx, report) => {
    const book = openBook(ctx);
    const outcome = await book.record(report);
    await book.close();
    return outcome;
  },
});

export const recordMany = mutation({
  args: { payments: v.array(payment) },
  returns: v.number(),
  handler: async (ctx, { payments }) => {
    const book = openBook(ctx);
    let created = 0;
    for (const report of payments) {
      const outcome = await book.record(report);
      if (outcome.created) {
        created += 1;
      }
    }
    await book.close();
    return created;
  },
});
