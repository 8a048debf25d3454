import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalQuery } from "./_generated/server";

interface Painting {
  title: string;
}

export const byIds = internalQuery({
  args: { ids: v.array(v.id("paintings")) },
  returns: v.array(v.object({ title: v.string() })),
  handler: async (ctx, args) => {
    const paintings = await Promise.all(args.ids.map((id) => ctx.db.get("paintings", id)));
    return paintings.filter((painting) => painting !== null).map(({ title }) => ({ title }));
  },
});

export const similar = action({
  args: { vector: v.array(v.number()), era: v.string() },
  handler: async (ctx, args): Promise<Painting[]> => {
    // example
    return paintings;
  },
});
