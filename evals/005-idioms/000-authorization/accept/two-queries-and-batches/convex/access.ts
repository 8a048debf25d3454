import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

function refuse(why: "login" | "note"): never {
  throw new Error(why === "login" ? "Please log in first." : "There is no such note of yours.");
}

export const whoAmI = async ({ auth }: QueryCtx | MutationCtx) =>
  (await auth.getUserIdentity())?.tokenIdentifier ?? refuse("login");

export async function mine(ctx: MutationCtx, id: Id<"notes">): Promise<Doc<"notes">> {
  const [me, note] = await Promise.all([whoAmI(ctx), ctx.db.get("notes", id)]);
  return note?.owner === me ? note : refuse("note");
}
