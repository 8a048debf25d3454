import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import { address, contact } from "./fields";

/**
 * The value of an optional field after an update: absent keeps the current
 * value, null removes the field, anything else is the new value.
 */
function afterUpdate<T>(
  change: T | null | undefined,
  current: T | undefined,
): T | undefined {
  if (change === undefined) {
    return current;
  }
  return change === null ? undefined : change;
}

export const update = mutation({
  args: {
    contactId: v.id("contacts"),
    name: v.optional(v.string()),
    favourite: v.optional(v.boolean()),
    email: v.optional(v.union(v.string(), v.null())),
    phone: v.optional(v.union(v.string(), v.null())),
    address: v.optional(v.union(address, v.null())),
  },
  handler: async (
    ctx,
    { contactId, ...changes },
  ): Promise<Doc<"contacts"> | null> => {
    const current = await ctx.db.get("contacts", contactId);
    if (current === null) {
      return null;
    }
    await ctx.db.replace("contacts", contactId, {
      name: changes.name ?? current.name,
      favourite: changes.favourite ?? current.favourite,
      email: afterUpdate(changes.email, current.email),
      phone: afterUpdate(changes.phone, current.phone),
      address: afterUpdate(changes.address, current.address),
    });
    return await ctx.db.get("contacts", contactId);
  },
});

export const replace = mutation({
  args: {
    contactId: v.id("contacts"),
    contact,
  },
  handler: async (ctx, args): Promise<Doc<"contacts"> | null> => {
    const current = await ctx.db.get("contacts", args.contactId);
    if (current === null) {
      return null;
    }
    await ctx.db.replace("contacts", args.contactId, args.contact);
    return await ctx.db.get("contacts", args.contactId);
  },
});
