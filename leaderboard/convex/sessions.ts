/**
 * Coding sessions that are exported, which `cli sessions push` sends. Calls name the state that they replace, so that a repeated
 * one changes nothing, and one that comes late, or from a second publisher, is refused instead of undoing what came after it.
 */
import { ConvexError, v, type Infer } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { internalQuery, mutation, type MutationCtx } from "./_generated/server";
import { requireToken, withToken } from "./auth";
import { checkKeys, checkName, checkTags } from "./limits";
import { exportFormat, exportKey, sessionFiles, sessionPart, sessionStatus } from "./validators";

const LISTED_AT_ONCE = 1_000;
const READ_AT_ONCE = 500;
const MOST_URLS = 100;
const FORMATS = exportFormat.members.map((member) => member.value);

type Files = Infer<typeof sessionFiles>;
type Parts = Doc<"sessions">["parts"];

const replaced = v.union(v.string(), v.null());

/** Which sessions and keys are here, by the digests they were sent with. A mutation, because it takes a token. */
export const list = mutation({
  args: withToken({ after: v.union(v.string(), v.null()) }),
  returns: v.object({
    sessions: v.array(v.object({ sessionId: v.string(), digest: v.string() })),
    /** What to list after, null at the end. */
    next: v.union(v.string(), v.null()),
    keys: replaced,
  }),
  handler: async (ctx, { token, after }) => {
    await requireToken(ctx, token, "publish");
    const found = await ctx.db
      .query("sessions")
      .withIndex("by_session_id", (q) => q.gt("sessionId", after ?? ""))
      .take(LISTED_AT_ONCE);
    return {
      sessions: found.map(({ sessionId, digest }) => ({ sessionId, digest })),
      next: found.length < LISTED_AT_ONCE ? null : found[found.length - 1]!.sessionId,
      keys: (await ctx.db.query("exportKeys").first())?.digest ?? null,
    };
  },
});

/** Places for so many files, each for one upload within the hour. */
export const uploadUrls = mutation({
  args: withToken({ count: v.number() }),
  returns: v.array(v.string()),
  handler: async (ctx, { token, count }) => {
    await requireToken(ctx, token, "publish");
    if (!Number.isInteger(count) || count < 1 || count > MOST_URLS) {
      throw new ConvexError(`count must be a number from 1 to ${MOST_URLS}`);
    }
    return await Promise.all(Array.from({ length: count }, () => ctx.storage.generateUploadUrl()));
  },
});

/** Stores a session with its files in place of the state with the digest `replaces`; null: it is not here yet. */
export const put = mutation({
  args: withToken({
    sessionId: v.string(),
    digest: v.string(),
    replaces: replaced,
    status: sessionStatus,
    tags: v.array(v.string()),
    order: v.number(),
    files: sessionFiles,
  }),
  returns: v.null(),
  handler: async (ctx, { token, replaces, files, ...session }) => {
    await requireToken(ctx, token, "publish");
    checkName("sessionId", session.sessionId);
    checkName("digest", session.digest);
    checkTags(session.tags);
    if (!Number.isFinite(session.order)) throw new ConvexError("order must be a number");
    const known = await find(ctx, session.sessionId);
    if (known?.digest === session.digest) {
      await removeFiles(ctx, files, known.parts);
      return null;
    }
    if ((known?.digest ?? null) !== replaces)
      throw new ConvexError(`Session ${session.sessionId} has changed meanwhile`);
    const parts = await partsOf(ctx, files);
    if (known) {
      await removeFiles(ctx, filesOf(known.parts), parts);
      await ctx.db.replace(known._id, { ...session, parts });
    } else {
      await ctx.db.insert("sessions", { ...session, parts });
    }
    return null;
  },
});

/** Removes a session with its files, if it still is what `digest` says. */
export const withdraw = mutation({
  args: withToken({ sessionId: v.string(), digest: v.string() }),
  returns: v.null(),
  handler: async (ctx, { token, sessionId, digest }) => {
    await requireToken(ctx, token, "publish");
    const known = await find(ctx, sessionId);
    if (!known) return null;
    if (known.digest !== digest) throw new ConvexError(`Session ${sessionId} has changed meanwhile`);
    await removeFiles(ctx, filesOf(known.parts), {});
    await ctx.db.delete(known._id);
    return null;
  },
});

/** Puts these keys of exports in the place of all others. */
export const putKeys = mutation({
  args: withToken({ digest: v.string(), replaces: replaced, keys: v.array(exportKey) }),
  returns: v.null(),
  handler: async (ctx, { token, replaces, ...given }) => {
    await requireToken(ctx, token, "publish");
    checkName("digest", given.digest);
    checkKeys(given.keys);
    const known = await ctx.db.query("exportKeys").first();
    if (known?.digest === given.digest) return null;
    if ((known?.digest ?? null) !== replaces) throw new ConvexError("The keys have changed meanwhile");
    if (known) await ctx.db.replace(known._id, given);
    else await ctx.db.insert("exportKeys", given);
    return null;
  },
});

/** Parts in one format of the sessions with this status and all of these tags, the newest first; page after page. */
export const page = internalQuery({
  args: {
    format: exportFormat,
    status: v.optional(sessionStatus),
    tags: v.array(v.string()),
    cursor: v.union(v.string(), v.null()),
  },
  returns: v.object({
    /** Null for a session that leaves no trace in this format. */
    parts: v.array(v.union(sessionPart, v.null())),
    cursor: v.union(v.string(), v.null()),
  }),
  handler: async (ctx, { format, status, tags, cursor }) => {
    const sessions = ctx.db.query("sessions");
    const ordered =
      status === undefined
        ? sessions.withIndex("by_order")
        : sessions.withIndex("by_status", (q) => q.eq("status", status));
    const found = await ordered.paginate({ cursor, numItems: READ_AT_ONCE });
    const chosen = found.page.filter((session) => tags.every((tag) => session.tags.includes(tag)));
    return {
      parts: chosen.map((session) => session.parts[format] ?? null),
      cursor: found.isDone ? null : found.continueCursor,
    };
  },
});

async function find(ctx: MutationCtx, sessionId: string): Promise<Doc<"sessions"> | null> {
  return await ctx.db
    .query("sessions")
    .withIndex("by_session_id", (q) => q.eq("sessionId", sessionId))
    .unique();
}

async function partsOf(ctx: MutationCtx, files: Files): Promise<Parts> {
  const parts: Parts = {};
  for (const format of FORMATS) {
    const storageId = files[format];
    if (storageId === undefined) continue;
    const stored = await ctx.db.system.get(storageId);
    if (!stored) throw new ConvexError("File not found");
    parts[format] = { storageId, size: stored.size };
  }
  return parts;
}

function filesOf(parts: Parts): Files {
  return Object.fromEntries(Object.entries(parts).map(([format, part]) => [format, part.storageId]));
}

/** Deletes `files`, without those that `kept` refers to. */
async function removeFiles(ctx: MutationCtx, files: Files, kept: Parts): Promise<void> {
  const needed = new Set<Id<"_storage">>(FORMATS.flatMap((format) => kept[format]?.storageId ?? []));
  for (const format of FORMATS) {
    const storageId = files[format];
    if (storageId === undefined || needed.has(storageId)) continue;
    if (await ctx.db.system.get(storageId)) await ctx.storage.delete(storageId);
  }
}
