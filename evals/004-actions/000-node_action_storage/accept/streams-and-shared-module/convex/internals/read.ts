import { ConvexError, v } from "convex/values";
import { internalQuery } from "../_generated/server";

export const text = internalQuery({
  args: { account: v.string() },
  handler: async (ctx, args) => {
    let text = "";
    let entryCount = 0;
    for await (const { account, cents } of ctx.db.query("entries")) {
      if (account !== args.account) continue;
      text += [account, cents].join(",") + "\n";
      entryCount++;
    }
    if (entryCount === 0) throw new ConvexError({ code: "NO_ENTRIES" });
    return { text, entryCount };
  },
});
