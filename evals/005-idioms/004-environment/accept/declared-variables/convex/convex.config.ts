import { defineApp } from "convex/server";
import { v } from "convex/values";

const app = defineApp({
  env: {
    MAIL_URL: v.optional(v.string()),
    MAIL_API_KEY: v.optional(v.string()),
    MAIL_TO: v.optional(v.string()),
    MAX_LENGTH: v.optional(v.string()),
  },
});

export default app;
