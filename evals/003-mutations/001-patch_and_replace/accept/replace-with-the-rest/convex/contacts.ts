import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";
import { contactFields } from "./schema";

const document = v.object({ ...contactFields, _id: v.id("contacts"), _creationTime: v.number() });
const nullable = { email: v.string(), phone: v.string(), address: contactFields.address };

const load = (ctx: MutationCtx, id: Id<"contacts">) => ctx.db.get(id);

export const replace = mutation({
  args: { contact: v.object(contactFields), contactId: v.id("contacts") },
  returns: v.union(document, v.null()),
  handler: async (ctx, { contactId, contact }) => {
    if (await load(ctx, contactId)) await ctx.db.replace(contactId, contact);
    return load(ctx, contactId);
  },
});

export const update = mutation({
  args: {
    contactId: v.id("contacts"),
    name: v.optional(v.string()),
    favourite: v.optional(v.boolean()),
    email: v.optional(v.union(v.null(), nullable.email)),
    phone: v.optional(v.union(v.null(), nullable.phone)),
    address: v.optional(v.union(v.null(), v.object({ street: v.string(), city: v.string(), country: v.optional(v.string()) }))),
  },
  returns: v.union(document, v.null()),
  handler: async (ctx, { contactId, name, favourite, email, phone, address }) => {
    const before = await load(ctx, contactId);
    if (!before) return null;
    const keep = <T>(given: T | null | undefined, stored: T | undefined) => (given === undefined ? stored : (given ?? undefined));
    await ctx.db.replace(contactId, {
      name: name ?? before.name,
      favourite: favourite ?? before.favourite,
      email: keep(email, before.email),
      phone: keep(phone, before.phone),
      address: keep(address, before.address),
    });
    return load(ctx, contactId);
  },
});
