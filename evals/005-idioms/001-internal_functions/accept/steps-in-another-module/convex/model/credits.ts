import { ConvexError } from "convex/values";
import type { Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";

export async function increase({ db }: MutationCtx, cardId: Id<"cards">, by: number) {
  const card = await db.get("cards", cardId);
  if (!card) throw new ConvexError("NO_CARD");
  const credits = card.credits + by;
  await db.replace("cards", cardId, { credits });
  return credits;
}
