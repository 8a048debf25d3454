import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { bookAll } from "./model/booking";
import { paymentValidator } from "./schema";

export const record = mutation({
  args: paymentValidator,
  returns: v.object({ created: v.boolean(), paymentId: v.id("payments") }),
  handler: async (ctx, payment) => {
    const [outcome] = await bookAll(ctx, [payment]);
    if (outcome === undefined) throw new Error("One payment has one outcome");
    return outcome;
  },
});

export const recordMany = mutation({
  args: { payments: v.array(paymentValidator) },
  returns: v.number(),
  handler: async (ctx, { payments }) => (await bookAll(ctx, payments)).filter((outcome) => outcome.created).length,
});
