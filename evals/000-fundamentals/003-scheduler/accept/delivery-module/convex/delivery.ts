import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalMutation, type MutationCtx } from "./_generated/server";

/** Delivers a reminder, unless it has been dealt with in the meantime. */
export const deliver = internalMutation({
  args: { reminderId: v.id("reminders") },
  returns: v.null(),
  handler: async (ctx, { reminderId }) => {
    const reminder = await ctx.db.get("reminders", reminderId);
    if (reminder?.status === "waiting") {
      await ctx.db.patch("reminders", reminderId, {
        status: "sent",
        sentAt: Date.now(),
        deliveryId: undefined,
      });
    }
    return null;
  },
});

/** Schedules the delivery of a reminder, at once if `dueAt` is past. */
export async function scheduleDelivery(
  ctx: MutationCtx,
  reminderId: Id<"reminders">,
  dueAt: number,
): Promise<Id<"_scheduled_functions">> {
  // Convex refuses times that are more than five years in the past.
  const at = Math.max(dueAt, Date.now());
  return await ctx.scheduler.runAt(at, internal.delivery.deliver, {
    reminderId,
  });
}
