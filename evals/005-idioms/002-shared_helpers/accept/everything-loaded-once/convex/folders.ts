import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { loadVisible, need } from "./visible";

export const list = query({
  args: {},
  handler: async ({ db }) => {
    const { folders, pages } = await loadVisible(db);
    const count = (id: string) => pages.filter(({ folderId }) => folderId === id).length;
    return folders.map(({ _id, name }) => ({ name, _id, pageCount: count(_id) }));
  },
});

export const trash = mutation({
  args: { folderId: v.id("folders") },
  handler: async ({ db }, { folderId }) => {
    need((await loadVisible(db)).folders, folderId);
    await db.patch("folders", folderId, { trashedAt: Date.now() });
  },
});

export const restore = mutation({
  args: { folderId: v.id("folders") },
  handler: async ({ db }, { folderId }) => {
    const folder = await db.get("folders", folderId);
    if (folder?.trashedAt === undefined) throw new Error("This folder is not in the trash");
    await db.replace("folders", folderId, { name: folder.name });
  },
});
