import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, query } from "./_generated/server";
import { pages, type Item } from "./supplier";

export const list = query({
  handler: async (ctx) => {
    const found: Item[] = [];
    for await (const { sku, name, cents } of ctx.db.query("products").withIndex("sku").order("asc")) found.push({ sku, name, cents });
    return found;
  },
});

export const sync = action({
  args: { token: v.string(), baseUrl: v.string() },
  handler: async (ctx, { baseUrl, token }): Promise<number> => {
    let list: Item[] = [];
    for await (const page of pages(baseUrl, token)) list = [...list, ...page];
    return await ctx.runMutation(internal.store.default, { list });
  },
});
