import { ConvexHttpClient } from "convex/browser";
import { ConvexError } from "convex/values";
import { api } from "../convex/_generated/api.js";
import type { Doc } from "../convex/_generated/dataModel.js";
import { acquire } from "./shared";

type Product = Pick<Doc<"products">, "sku" | "name" | "stock">;
type Outcome = "created" | "updated" | "refused";

const outcomeOf = (saved: Promise<boolean>): Promise<Outcome> =>
  saved.then(
    (isNew) => (isNew ? "created" : "updated"),
    (reason: unknown) => {
      if (reason instanceof ConvexError) return "refused";
      throw reason;
    },
  );

export const importStock = async (url: string, products: readonly Product[]) => {
  const http = new ConvexHttpClient(url, { logger: false });
  const outcomes = await Promise.all(products.map((product) => outcomeOf(http.mutation(api.products.save, product))));
  const count = (wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length;
  return {
    created: count("created"),
    updated: count("updated"),
    refused: products.filter((_, index) => outcomes[index] === "refused").map(({ sku }) => sku),
  };
};

export const watchLow = (url: string, limit: number, onChange: (products: Doc<"products">[]) => void) => {
  const { client, release } = acquire(url);
  const subscription = client.onUpdate(api.products.low, { limit }, onChange);
  return async () => {
    subscription.unsubscribe();
    await release();
  };
};
