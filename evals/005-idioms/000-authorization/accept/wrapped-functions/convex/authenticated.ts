import type { Auth } from "convex/server";
import { ConvexError } from "convex/values";

/** Calls `run` with the user's token identifier, or not at all. */
export async function asUser<T>({ auth }: { auth: Auth }, run: (user: string) => Promise<T>): Promise<T> {
  const identity = await auth.getUserIdentity();
  if (!identity) throw new ConvexError({ code: "UNAUTHENTICATED" });
  return await run(identity.tokenIdentifier);
}
