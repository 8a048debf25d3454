import { v, type Infer } from "convex/values";
import { action, mutation, query, type QueryCtx } from "./_generated/server";
import { wish } from "./validators";

const loudness = { calm: (text: string) => text, loud: (text: string) => text.toLocaleUpperCase("en") };
const style = v.union(v.literal("loud"), v.literal("calm"));

async function countWaiting({ db }: QueryCtx) {
  let waiting = 0;
  for await (const request of db.query("requests")) {
    if (request.status === "waiting") waiting++;
  }
  return waiting;
}

function joined(words: string[], how: Infer<typeof style>) {
  return { length: words.length, text: loudness[how](words.join(" ")) };
}

const count = query({ args: {}, returns: v.float64(), handler: countWaiting });

const add = mutation({
  args: wish,
  returns: v.id("requests"),
  async handler(ctx, { song, listener }) {
    return ctx.db.insert("requests", { status: "waiting", song, ...(listener === undefined ? {} : { listener }) });
  },
});

const jingle = action({
  args: { style, words: v.array(v.string()) },
  returns: v.object({ length: v.number(), text: v.string() }),
  handler: (_, args) => joined(args.words, args.style),
});

export { add, count, jingle };
