import type { DatabaseReader } from "./_generated/server";

export async function loadVisible(db: DatabaseReader) {
  const [folders, pages] = await Promise.all([db.query("folders").collect(), db.query("pages").collect()]);
  const openFolders = folders.filter((folder) => folder.trashedAt == null);
  const ids = new Set(openFolders.map((folder) => folder._id));
  return { folders: openFolders, pages: pages.filter((page) => page.trashedAt == null && ids.has(page.folderId)) };
}

/** The element with this id; without one, `null` or an error. */
export function find<T extends { _id: string }>(all: T[], id: T["_id"]): T | null {
  return all.find((one) => one._id === id) ?? null;
}

export function need<T extends { _id: string }>(all: T[], id: T["_id"]): T {
  const one = find(all, id);
  if (!one) throw new Error(`${id} is not there`);
  return one;
}
