import { v } from "convex/values";

/** The stored fields of a reading, without the system fields. */
export const readingFields = {
  station: v.string(),
  /** Milliseconds since 1970. */
  at: v.number(),
  celsius: v.number(),
  /** What the station sent. */
  raw: v.optional(v.string()),
};

/** A whole reading as it comes out of the database. */
export const readingDocument = v.object({
  _id: v.id("readings"),
  _creationTime: v.number(),
  ...readingFields,
});
