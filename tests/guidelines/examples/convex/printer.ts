import { v } from "convex/values";
import { internalAction } from "./_generated/server";

export const print = internalAction({ args: { sheetId: v.id("sheets") }, handler: async () => null });
