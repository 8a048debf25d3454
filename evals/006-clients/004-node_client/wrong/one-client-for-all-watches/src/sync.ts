import { ConvexClient, ConvexHttpClient } from "convex/browser";
import type { FunctionReturnType } from "convex/server";
import { ConvexError } from "convex/values";
import { api } from "../convex/_generated/api";

export interface Product {
  sku: string;
  name: string;
  stock: number;
}

export interface ImportResult {
  created: number;
  updated: number;
  refused: string[];
}

let watching: ConvexClient | undefined;

type LowProducts = FunctionReturnType<typeof api.products.low>;

/** Stores products one after the other; those that the backend refuses are left out. */
export async function importStock(url: string, products: Product[]): Promise<ImportResult> {
  const client = new ConvexHttpClient(url);
  const result: ImportResult = { created: 0, updated: 0, refused: [] };
  for (const { sku, name, stock } of products) {
    try {
      const created = await client.mutation(api.products.save, { sku, name, stock });
      if (created) {
        result.created += 1;
      } else {
        result.updated += 1;
      }
    } catch (error) {
      if (!(error instanceof ConvexError)) {
        throw error;
      }
      result.refused.push(sku);
    }
  }
  return result;
}

/** Calls `onChange` with the products that run low, now and whenever they change, until the returned function is called. */
export function watchLow(url: string, limit: number, onChange: (products: LowProducts) => void): () => Promise<void> {
  watching ??= new ConvexClient(url);
  const client = watching;
  client.onUpdate(api.products.low, { limit }, onChange);
  return () => {
    watching = undefined;
    return client.close();
  };
}
