import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation } from "./_generated/server";
import { addressValidator, contactValidator } from "./schema";

export const update = mutation({
  args: {
    contactId: v.id("contacts"),
    name: v.optional(v.string()),
    favourite: v.optional(v.boolean()),
    email: v.optional(v.union(v.string(), v.null())),
    phone: v.optional(v.union(v.string(), v.null())),
    address: v.optional(v.union(addressValidator, v.null())),
  },
  handler: async (ctx, args) => {
    const contact = await ctx.db.get("contacts", args.contactId);
    if (contact === null) {
      return null;
    }
    const changes: Partial<Doc<"contacts">> = {};
    if (args.name !== undefined) {
      changes.name = args.name;
    }
    if (args.favourite !== undefined) {
      changes.favourite = args.favourite;
    }
    // A field that is undefined in a patch is removed; one that is not in it stays.
    if (args.email !== undefined) {
      changes.email = args.email ?? undefined;
    }
    if (args.phone !== undefined) {
      changes.phone = args.phone ?? undefined;
    }
    if (args.address !== undefined) {
      changes.address = args.address ?? undefined;
    }
    await ctx.db.patch("contacts", contact._id, changes);
    return await ctx.db.get("contacts", contact._id);
  },
});

export const replace = mutation({
  args: { contactId: v.id("contacts"), contact: contactValidator },
  handler: async (ctx, args) => {
    await ctx.db.replace("contacts", args.contactId, args.contact);
    return await ctx.db.get("contacts", args.contactId);
  },
});
