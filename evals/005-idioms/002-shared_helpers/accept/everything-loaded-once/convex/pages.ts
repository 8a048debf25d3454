import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { find, loadVisible, need } from "./visible";

export const get = query({
  args: { pageId: v.id("pages") },
  handler: async ({ db }, { pageId }) => find((await loadVisible(db)).pages, pageId),
});

export const list = query({
  args: { folderId: v.id("folders") },
  handler: async ({ db }, { folderId }) => (await loadVisible(db)).pages.filter((page) => page.folderId === folderId),
});

export const newest = query({
  args: { count: v.number() },
  handler: async ({ db }, { count }) => (await loadVisible(db)).pages.reverse().slice(0, count),
});

export const add = mutation({
  args: { title: v.string(), folderId: v.id("folders") },
  handler: async ({ db }, page) => {
    need((await loadVisible(db)).folders, page.folderId);
    return db.insert("pages", page);
  },
});

export const rename = mutation({
  args: { pageId: v.id("pages"), title: v.string() },
  handler: async ({ db }, { pageId, title }) => {
    const page = need((await loadVisible(db)).pages, pageId);
    await db.replace("pages", pageId, { ...page, title });
  },
});

export const move = mutation({
  args: { pageId: v.id("pages"), folderId: v.id("folders") },
  handler: async ({ db }, { pageId, folderId }) => {
    const { pages, folders } = await loadVisible(db);
    need(folders, folderId);
    need(pages, pageId);
    await db.patch("pages", pageId, { folderId });
  },
});

export const trash = mutation({
  args: { pageId: v.id("pages") },
  handler: async ({ db }, { pageId }) => {
    need((await loadVisible(db)).pages, pageId);
    await db.patch("pages", pageId, { trashedAt: Date.now() });
  },
});
