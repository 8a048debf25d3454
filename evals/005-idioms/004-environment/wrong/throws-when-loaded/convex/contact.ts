import { ConvexError, v } from "convex/values";
import { action, query } from "./_generated/server";

const DEFAULT_MAX_LENGTH = 500;

if (!process.env.MAIL_API_KEY) {
  throw new Error("MAIL_API_KEY is not set");
}

/** The variables that are needed to send; `missing` names those that are not set. */
function mailSettings() {
  const { MAIL_URL = "", MAIL_API_KEY = "", MAIL_TO = "" } = process.env;
  const missing = Object.entries({ MAIL_URL, MAIL_API_KEY, MAIL_TO })
    .filter(([, value]) => value === "")
    .map(([name]) => name);
  return { url: MAIL_URL, apiKey: MAIL_API_KEY, to: MAIL_TO, missing };
}

function maxLength(): number {
  const value = process.env.MAX_LENGTH;
  if (value === undefined || value === "") {
    return DEFAULT_MAX_LENGTH;
  }
  if (!/^\d+$/.test(value) || Number(value) === 0) {
    throw new ConvexError({ code: "bad_configuration", variable: "MAX_LENGTH" });
  }
  return Number(value);
}

export const form = query({
  args: {},
  returns: v.object({ open: v.boolean(), maxLength: v.number() }),
  handler: async () => {
    return { open: mailSettings().missing.length === 0, maxLength: maxLength() };
  },
});

export const send = action({
  args: { text: v.string() },
  returns: v.null(),
  handler: async (_ctx, args) => {
    const { url, apiKey, to, missing } = mailSettings();
    if (missing.length > 0) {
      throw new ConvexError({ code: "not_configured", missing });
    }
    const limit = maxLength();
    if (args.text.length === 0 || args.text.length > limit) {
      throw new ConvexError({ code: "bad_text" });
    }
    const response = await fetch(url, {
      method: "POST",
      headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
      body: JSON.stringify({ to, text: args.text }),
    });
    if (response.status !== 200) {
      throw new ConvexError({ code: "not_sent", status: response.status });
    }
    return null;
  },
});
