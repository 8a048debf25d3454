import { v } from "convex/values";
import { internalQuery } from "../_generated/server";

export default internalQuery({
  args: { ids: v.array(v.id("articles")) },
  handler: async ({ db }, { ids }) => {
    const documents = await Promise.all(ids.map((id) => db.get(id)));
    return documents.flatMap((document) => (document ? [{ _id: document._id, title: document.title, language: document.language }] : []));
  },
});
