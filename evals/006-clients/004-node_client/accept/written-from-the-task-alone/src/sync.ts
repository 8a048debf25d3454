import { ConvexClient, ConvexHttpClient } from "convex/browser";
import type { FunctionArgs, FunctionReturnType } from "convex/server";
import { ConvexError } from "convex/values";
import { api } from "../convex/_generated/api.js";

export type Product = FunctionArgs<typeof api.products.save>;
export type LowProducts = FunctionReturnType<typeof api.products.low>;

export type ImportResult = {
  /** How many calls stored a new product. */
  created: number;
  /** How many calls replaced a product. */
  updated: number;
  /** The SKUs of the products that the backend refused. */
  refused: string[];
};

/** Stores one product. A refusal is a result, every other failure is thrown. */
async function save(
  client: ConvexHttpClient,
  { sku, name, stock }: Product,
): Promise<"created" | "updated" | "refused"> {
  try {
    const isNew = await client.mutation(api.products.save, { sku, name, stock });
    return isNew ? "created" : "updated";
  } catch (error) {
    if (error instanceof ConvexError) {
      return "refused";
    }
    throw error;
  }
}

/** Stores products one after the other. */
export async function importStock(
  url: string,
  products: readonly Product[],
): Promise<ImportResult> {
  // Over HTTP there is no connection to close, and an unreachable backend is an error.
  const client = new ConvexHttpClient(url);
  const result: ImportResult = { created: 0, updated: 0, refused: [] };
  for (const product of products) {
    const outcome = await save(client, product);
    if (outcome === "refused") {
      result.refused.push(product.sku);
    } else {
      result[outcome] += 1;
    }
  }
  return result;
}

/**
 * Calls `onChange` with the products of which at most `limit` are in stock, now and whenever they
 * change. Returns the function that ends the watch.
 */
export function watchLow(
  url: string,
  limit: number,
  onChange: (products: LowProducts) => void,
): () => Promise<void> {
  // Each watch has a connection of its own, which ends with it.
  const client = new ConvexClient(url);
  let closing: Promise<void> | undefined;
  let last: string | undefined;

  client.onUpdate(
    api.products.low,
    { limit },
    (products) => {
      // After a reconnection the same products may arrive once more.
      const current = JSON.stringify(products);
      if (closing === undefined && current !== last) {
        last = current;
        onChange(products);
      }
    },
    (error) => {
      console.error("The products of which few are in stock cannot be watched:", error);
    },
  );

  return () => {
    closing ??= client.close();
    return closing;
  };
}
