import { v } from "convex/values";
import { mutation } from "./_generated/server";
import { nullRemoves } from "./lib/changes";
import schema from "./schema";

const contact = schema.tables.contacts.validator;
const { name, favourite } = contact.partial().fields;
const orNull = v.null();

export const update = mutation({
  args: v.object({
    contactId: v.id("contacts"),
    name,
    favourite,
    email: v.optional(v.union(v.string(), orNull)),
    phone: v.optional(v.union(v.string(), orNull)),
    address: v.optional(v.union(v.object({ street: v.string(), city: v.string(), country: v.optional(v.string()) }), orNull)),
  }),
  async handler({ db }, { contactId, ...given }) {
    const found = await db.get("contacts", contactId);
    if (found !== null && Object.keys(given).length > 0) {
      await db.patch("contacts", contactId, nullRemoves(given));
      return await db.get("contacts", contactId);
    }
    return found;
  },
});

export const replace = mutation({
  args: v.object({ contactId: v.id("contacts"), contact }),
  async handler({ db }, { contactId, contact: { ...fields } }) {
    const found = await db.get("contacts", contactId);
    if (found === null) return null;
    await db.replace("contacts", contactId, fields);
    return { _id: found._id, _creationTime: found._creationTime, ...fields };
  },
});
