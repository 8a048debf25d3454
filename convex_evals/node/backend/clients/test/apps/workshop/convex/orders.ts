import { MINUTE, RateLimiter } from "@convex-dev/rate-limiter";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import { action, internalMutation, query } from "./_generated/server";

const limiter = new RateLimiter(components.rateLimiter, { order: { kind: "fixed window", rate: 3, period: MINUTE } });

export const record = internalMutation({
  args: { name: v.string(), count: v.number() },
  returns: v.union(v.number(), v.null()),
  handler: async (ctx, order): Promise<number | null> => {
    const { ok } = await limiter.limit(ctx, "order");
    return ok ? await ctx.runMutation(components.stock.parts.add, order) : null;
  },
});

export const place = action({
  args: { name: v.string(), count: v.number() },
  returns: v.object({ total: v.union(v.number(), v.null()), receipt: v.string() }),
  handler: async (ctx, order): Promise<{ total: number | null; receipt: string }> => {
    console.log("order", order);
    const receipt: string = await ctx.runAction(internal.receipts.sign, { text: `${order.count} x ${order.name}` });
    return { total: await ctx.runMutation(internal.orders.record, order), receipt };
  },
});

export const stock = query({
  args: {},
  handler: async (ctx): Promise<Record<string, number>> => await ctx.runQuery(components.stock.parts.list, {}),
});

export const whoami = query({
  args: {},
  handler: async (ctx) => {
    const identity = await ctx.auth.getUserIdentity();
    return identity === null ? null : { name: identity.name, token: identity.tokenIdentifier };
  },
});
