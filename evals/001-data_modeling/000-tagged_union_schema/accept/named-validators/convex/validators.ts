import { v } from "convex/values";

const pickedUp = v.object({ courier: v.string(), type: v.literal("pickedUp") });

const attended = v.union(v.literal("neighbour"), v.literal("door"));
const delivered = v.object({
  signedBy: v.union(v.null(), v.string()),
  place: v.union(attended, v.literal("locker")),
  type: v.literal("delivered"),
});

const failed = v.object({
  retryAt: v.optional(v.float64()),
  reason: v.string(),
  type: v.literal("failed"),
});

export const event = v.object({
  at: v.float64(),
  details: v.union(failed, v.union(delivered, pickedUp)),
  parcelId: v.id("parcels"),
});
