import { ConvexClient } from "convex/browser";

const open = new Map<string, { client: ConvexClient; users: number }>();

/** The client of a deployment, for as long as somebody uses it. */
export function acquire(url: string) {
  const entry = open.get(url) ?? { client: new ConvexClient(url), users: 0 };
  open.set(url, entry);
  entry.users += 1;
  let released = false;
  return {
    client: entry.client,
    release: async () => {
      if (released) return;
      released = true;
      entry.users -= 1;
      if (entry.users > 0) return;
      open.delete(url);
      await entry.client.close();
    },
  };
}
