import { v } from "convex/values";
import { internalMutation } from "./_generated/server";
import { handleBatch } from "./lib/batch";

export const next = internalMutation({ args: { after: v.number(), batchSize: v.number() }, handler: handleBatch });
