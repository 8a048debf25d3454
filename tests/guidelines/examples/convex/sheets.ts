import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { internalMutation, type MutationCtx } from "./_generated/server";

declare const ctx: MutationCtx;
declare const sheetId: Id<"sheets">;
// example
