import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { internalMutation, type MutationCtx } from "./_generated/server";

export const begin = internalMutation({ args: { washId: v.id("washes") }, handler: async () => null });

export async function move(ctx: MutationCtx, wash: Doc<"washes">, args: { at: number }): Promise<void> {
  // example
}
