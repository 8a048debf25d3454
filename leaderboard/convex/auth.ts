/**
 * Tokens. One is `lb_ID_SECRET`: the deployment keeps the SHA-256 of the secret, which has 192 random bits, so that a copy of the
 * database is of no use to call it. `npx convex run auth:createToken '{"name":"ci","scopes":["publish"]}'` shows a token once.
 */
import { MINUTE, RateLimiter } from "@convex-dev/rate-limiter";
import { ConvexError, v, type Infer, type PropertyValidators } from "convex/values";
import { components, internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalAction, internalMutation, internalQuery, mutation, type MutationCtx } from "./_generated/server";
import { equal, hashOf, hex } from "./hashes";
import { checkName } from "./limits";
import { scope } from "./validators";

type Scope = Infer<typeof scope>;

const SECRET_BYTES = 24;
const PUBLIC_ID_BYTES = 8;
const TOKEN = /^lb_([0-9a-f]{16})_([0-9a-f]{48})$/;
/** How exactly the last use of a token is known. */
const LAST_USE_MS = MINUTE;
const DEFAULT_SCOPES: Scope[] = ["publish", "admin"];
/** What a token with a scope may do. */
const DEEDS: Record<Scope, string> = {
  publish: "publish",
  admin: "mint and name benchmarks",
  export: "export runs",
};
const DAY_MS = 24 * 60 * MINUTE;

export const limiter = new RateLimiter(components.rateLimiter, {
  // Of each token: what a publisher sends in a minute, several times over.
  calls: { kind: "token bucket", rate: 20_000, period: MINUTE, capacity: 20_000, shards: 10 },
  // With each key of exports.
  exports: { kind: "token bucket", rate: 60, period: MINUTE, capacity: 60 },
  // Of all tokens and keys that were refused, where refusals can be counted.
  refusals: { kind: "token bucket", rate: 60, period: MINUTE, capacity: 60 },
});

/** The arguments of a function that takes a token. */
export const withToken = <Args extends PropertyValidators>(args: Args) => ({ token: v.string(), ...args });

/** The token behind `text`, or why it is refused. Only who has its secret is told more than that it is not valid. */
async function find(ctx: MutationCtx, text: string, wanted: Scope | null): Promise<Doc<"authTokens"> | string> {
  const [, publicId = "", secret = ""] = TOKEN.exec(text) ?? [];
  const known = await ctx.db
    .query("authTokens")
    .withIndex("by_public_id", (q) => q.eq("publicId", publicId))
    .unique();
  // Computed for unknown tokens, too: both take the same time.
  const isSame = equal(await hashOf(secret), known?.secretHash ?? "");
  if (!known || !isSame) return "Invalid authentication token";
  if (known.revokedAt !== undefined) return "Revoked authentication token";
  if (hasExpired(known)) return "Expired authentication token";
  if (wanted === null || known.scopes.includes(wanted)) return known;
  return `This token may not ${DEEDS[wanted]}: it lacks the scope ${wanted}`;
}

function hasExpired({ expiresAt }: Doc<"authTokens">): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}

/**
 * The token, if it may do this; null: whatever it may do. Throws otherwise, and such a refusal cannot be counted: a mutation that
 * throws leaves nothing behind.
 */
export async function requireToken(ctx: MutationCtx, token: string, wanted: Scope | null): Promise<Doc<"authTokens">> {
  const known = await find(ctx, token, wanted);
  if (typeof known === "string") throw new ConvexError(known);
  await use(ctx, known);
  return known;
}

async function use(ctx: MutationCtx, token: Doc<"authTokens">): Promise<void> {
  const { ok, retryAfter } = await limiter.limit(ctx, "calls", { key: token.publicId });
  if (!ok)
    throw new ConvexError(`Too many calls with this token; try again in ${Math.ceil((retryAfter ?? 0) / 1000)} s`);
  if (Date.now() - (token.lastUsedAt ?? 0) > LAST_USE_MS) await ctx.db.patch(token._id, { lastUsedAt: Date.now() });
}

/** For HTTP actions, which can count refusals: whether `token` may do this, and whether anyone may ask just now. */
export const check = internalMutation({
  args: { token: v.string(), scope },
  returns: v.union(v.literal("ok"), v.literal("too many"), v.object({ refused: v.string() })),
  handler: async (ctx, args) => {
    const known = await find(ctx, args.token, args.scope);
    if (typeof known === "string") return (await limiter.limit(ctx, "refusals")).ok ? { refused: known } : "too many";
    await use(ctx, known);
    return "ok";
  },
});

/** What a token may do, so that a publisher can ask before it sends anything. A mutation, because it takes a token. */
export const tokenScopes = mutation({
  args: withToken({}),
  returns: v.object({ scopes: v.array(scope) }),
  handler: async (ctx, { token }) => ({ scopes: (await requireToken(ctx, token, null)).scopes }),
});

/** Makes a token and shows it, once. Unless `scopes` are given, it can do what the leaderboard's API has. */
export const createToken = internalAction({
  args: { name: v.string(), scopes: v.optional(v.array(scope)), expiresInDays: v.optional(v.number()) },
  returns: v.object({ tokenId: v.id("authTokens"), name: v.string(), value: v.string() }),
  handler: async (ctx, { name, scopes = DEFAULT_SCOPES, expiresInDays }) => {
    const expiry = expiresInDays === undefined ? {} : { expiresAt: momentIn(expiresInDays) };
    const publicId = randomHex(PUBLIC_ID_BYTES);
    const secret = randomHex(SECRET_BYTES);
    const made = { name, scopes, publicId, secretHash: await hashOf(secret) };
    const tokenId: Id<"authTokens"> = await ctx.runMutation(internal.auth.storeToken, { ...made, ...expiry });
    return { tokenId, name, value: `lb_${publicId}_${secret}` };
  },
});

function momentIn(days: number): number {
  const now = Date.now();
  const moment = now + days * DAY_MS;
  if (moment > now && Number.isFinite(moment)) return moment;
  throw new ConvexError("expiresInDays must be a positive number of days");
}

export const storeToken = internalMutation({
  args: {
    name: v.string(),
    scopes: v.array(scope),
    publicId: v.string(),
    secretHash: v.string(),
    expiresAt: v.optional(v.number()),
  },
  returns: v.id("authTokens"),
  handler: async (ctx, token) => {
    checkName("name", token.name);
    if ((await usable(ctx, token.name)).length > 0) {
      throw new ConvexError(`There is a token ${token.name} already; revoke it, or choose another name`);
    }
    return await ctx.db.insert("authTokens", token);
  },
});

/** Ends a token, by its name; returns how many there were. */
export const revokeToken = internalMutation({
  args: { name: v.string() },
  returns: v.number(),
  handler: async (ctx, { name }) => {
    const tokens = await usable(ctx, name);
    for (const token of tokens) await ctx.db.patch(token._id, { revokedAt: Date.now() });
    return tokens.length;
  },
});

/** The tokens of a name that have not ended: one, or several where an older version of the app made them. */
async function usable(ctx: MutationCtx, name: string): Promise<Doc<"authTokens">[]> {
  const named = ctx.db.query("authTokens").withIndex("by_name", (q) => q.eq("name", name));
  return (await named.collect()).filter((token) => token.revokedAt === undefined && !hasExpired(token));
}

/** All tokens, without what could be used. */
export const listTokens = internalQuery({
  args: {},
  handler: async (ctx) =>
    (await ctx.db.query("authTokens").take(1000)).map(({ secretHash: _, _id, ...token }) => token),
});

function randomHex(bytes: number): string {
  return hex(crypto.getRandomValues(new Uint8Array(bytes)));
}
