import { ConvexError, v } from "convex/values";
import { action, env, query } from "./_generated/server";

const NEEDED = ["MAIL_URL", "MAIL_API_KEY", "MAIL_TO"] as const;

const missing = () => NEEDED.filter((name) => !env[name]);

function limit() {
  if (!env.MAX_LENGTH) return 500;
  if (/^0*[1-9][0-9]*$/.test(env.MAX_LENGTH)) return parseInt(env.MAX_LENGTH, 10);
  throw new ConvexError({ variable: "MAX_LENGTH", code: "bad_configuration" });
}

export const send = action({
  args: { text: v.string() },
  handler: async (_, { text }) => {
    if (missing().length) throw new ConvexError({ code: "not_configured", missing: missing() });
    if (text.length > limit() || !text) throw new ConvexError({ code: "bad_text" });
    const headers = { "content-type": "application/json", authorization: "Bearer " + env.MAIL_API_KEY! };
    const { status } = await fetch(env.MAIL_URL!, { method: "POST", headers, body: JSON.stringify({ text, to: env.MAIL_TO }) });
    if (status !== 200) throw new ConvexError({ code: "not_sent", status });
  },
});

export const form = query({ args: {}, handler: () => ({ maxLength: limit(), open: !missing().length }) });
