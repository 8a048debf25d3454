import { BaseConvexClient, ConvexHttpClient } from "convex/browser";
import { getFunctionName } from "convex/server";
import { ConvexError, type Value } from "convex/values";
import { api } from "../convex/_generated/api";

type Low = typeof api.products.low._returnType;
type Save = typeof api.products.save._args;
interface Summary {
  created: number;
  updated: number;
  refused: string[];
}

export async function importStock(url: string, products: Save[]): Promise<Summary> {
  return await importRest(new ConvexHttpClient(url), products, { created: 0, updated: 0, refused: [] });
}

async function importRest(client: ConvexHttpClient, [next, ...rest]: Save[], summary: Summary): Promise<Summary> {
  if (next === undefined) return summary;
  const outcome = await client.mutation(api.products.save, next).catch((error: unknown) => {
    if (error instanceof ConvexError && typeof error.data === "string") return "refused";
    throw error;
  });
  if (outcome === "refused") summary.refused.push(next.sku);
  else summary[outcome ? "created" : "updated"]++;
  return await importRest(client, rest, summary);
}

export function watchLow(url: string, limit: number, onChange: (products: Low) => unknown): () => Promise<void> {
  let live = true;
  const args: Record<string, Value> = { limit };
  const name = getFunctionName(api.products.low);
  const client = new BaseConvexClient(
    url,
    (changed) => {
      if (!live || !changed.includes(queryToken)) return;
      const products = client.localQueryResult(name, args) as Low | undefined;
      if (products) onChange(products);
    },
    { unsavedChangesWarning: false },
  );
  const { queryToken, unsubscribe } = client.subscribe(name, args);
  return async function stop() {
    live = false;
    unsubscribe();
    await client.close();
  };
}
