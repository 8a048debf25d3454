import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalAction, query } from "./_generated/server";
import { greatestLength, missingVariables, requireMail } from "./settings";

export const form = query({
  handler: async () => {
    const maxLength = greatestLength();
    return { open: missingVariables().length === 0, maxLength };
  },
});

export const send = action({
  args: { text: v.string() },
  handler: async (ctx, { text }): Promise<null> => {
    requireMail();
    const limit = greatestLength();
    if (text === "" || text.length > limit) throw new ConvexError({ code: "bad_text" });
    const status = await ctx.runAction(internal.contact.post, { text });
    if (status === 200) return null;
    throw new ConvexError({ code: "not_sent", status });
  },
});

export const post = internalAction({
  args: { text: v.string() },
  returns: v.number(),
  handler: async (_ctx, { text }) => {
    const { url, key, to } = requireMail();
    const request = new Request(url, { method: "POST", body: JSON.stringify({ to, text }) });
    request.headers.set("Content-Type", "application/json");
    request.headers.set("Authorization", `Bearer ${key}`);
    return (await fetch(request)).status;
  },
});
