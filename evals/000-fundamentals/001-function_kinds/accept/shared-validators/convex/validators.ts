import { v } from "convex/values";

export const status = v.union(v.literal("played"), v.union(v.literal("playing"), v.literal("waiting")));

export const requestFields = {
  status,
  listener: v.optional(v.string()),
  song: v.string(),
};

export const request = v.object({ ...requestFields, _creationTime: v.number(), _id: v.id("requests") });

const { song, listener } = requestFields;

/** Whose request: what `add` and `tweet` take. */
export const wish = v.object({ song, listener });
