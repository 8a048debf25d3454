import { v } from "convex/values";
import { internalMutation } from "./_generated/server";

export default internalMutation({
  args: { id: v.id("reminders") },
  handler: async ({ db }, { id }) => {
    const reminder = await db.get("reminders", id);
    if (reminder?.status !== "waiting") return;
    const { text, dueAt } = reminder;
    await db.replace("reminders", id, { text, dueAt, status: "sent", sentAt: Date.now() });
  },
});
