/**
 * `GET /api/export`: sessions for those who have a key of `cli keys create`, and runs for those who have a token. Sessions are
 * answered as `cli view` answers them: the same parameters, the same errors, the same bytes.
 */
import { ConvexError, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import type { ActionCtx } from "./_generated/server";
import { refusal } from "./answers";
import { exportFormat, sessionPart, sessionStatus } from "./validators";

type Format = Infer<typeof exportFormat>;
type Status = Infer<typeof sessionStatus>;
type Part = Infer<typeof sessionPart>;

/** How a file is made of the parts of sessions; those of `cli sessions export` are made so, too. */
interface Frame {
  readonly suffix: string;
  readonly mediaType: string;
  readonly opening: string;
  readonly separator: string;
  readonly closing: string;
  /** The file without any part. */
  readonly empty: string;
}

const FRAMES: Record<Format, Frame> = {
  deepeval: {
    suffix: "json",
    mediaType: "application/json",
    opening: "[\n",
    separator: ",\n",
    closing: "\n]\n",
    empty: "[]\n",
  },
  openai: {
    suffix: "jsonl",
    mediaType: "application/x-ndjson",
    opening: "",
    separator: "",
    closing: "",
    empty: "",
  },
  text: {
    suffix: "txt",
    mediaType: "text/plain; charset=utf-8",
    opening: "",
    separator: "\n",
    closing: "",
    empty: "",
  },
};

const STATUSES = sessionStatus.members.map((member) => member.value);
const PARAMETERS = ["format", "status", "tag", "limit"];
const LONGEST_QUERY = 4_000;
const MOST_FIELDS = 50;
const MOST_SESSIONS = 1_000_000_000;
/** Of an answer of an HTTP action: https://docs.convex.dev/production/state/limits */
const LARGEST_ANSWER = 20 << 20;
const FETCHED_AHEAD = 8;
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

interface Wanted {
  readonly format: Format;
  readonly status: Status | undefined;
  readonly tags: string[];
  readonly limit: number;
}

export async function answerExport(ctx: ActionCtx, request: Request): Promise<Response> {
  const [, secret = ""] = /^bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return secret.startsWith("lb_") ? await exportRun(ctx, request, secret) : await exportSessions(ctx, request, secret);
}

function refused(status: number, code: string, message: string, more: Record<string, string> = {}): Response {
  return refusal(status, code, message, { ...HEADERS, ...more });
}

const bad = (message: string): Response => refused(400, "bad_request", message);

const unauthorized = (message: string): Response =>
  refused(401, "unauthorized", message, { "www-authenticate": 'Bearer realm="convex-evals"' });

const tooMany = (message: string, seconds: number): Response =>
  refused(429, "too_many_requests", message, { "retry-after": `${seconds}` });

async function exportRun(ctx: ActionCtx, request: Request, token: string): Promise<Response> {
  const answer = await ctx.runMutation(internal.auth.check, { token, scope: "export" });
  if (answer === "too many") return tooMany("Too many requests without a token that is known.", 60);
  if (answer !== "ok") return unauthorized(`${answer.refused}.`);
  const runId = new URL(request.url).searchParams.get("run");
  if (runId === null) return bad("Name a run: /api/export?run=DATE/RUN/TRIAL.");
  const run = await ctx.runQuery(internal.runs.exportRun, { runId });
  return run === null
    ? refused(404, "not_found", `There is no run ${runId}.`)
    : Response.json(run, { headers: HEADERS });
}

async function exportSessions(ctx: ActionCtx, request: Request, secret: string): Promise<Response> {
  const key = await ctx.runMutation(internal.exportKeys.check, { key: secret });
  if (key.kind === "too many") {
    const which = key.isKnown ? "with this key" : "without a key that is known";
    return tooMany(`Too many requests ${which}.`, key.seconds);
  }
  if (key.kind === "ended") return unauthorized(`The key '${key.name}' is ${key.how}.`);
  if (key.kind === "unknown") {
    return unauthorized(secret === "" ? "Send a key: `Authorization: Bearer osk_...`." : "This key is not known.");
  }
  const wanted = parse(new URL(request.url).search.slice(1));
  if (typeof wanted === "string") return bad(wanted);
  const { status } = wanted;
  if (!key.scopes.includes("export") && (status === undefined || !key.scopes.includes(`export:${status}`))) {
    const may = key.scopes.map((scope) => `status=${scope.replace(/^export:/, "")}`);
    return refused(403, "forbidden", `The key '${key.name}' exports only: ${may.join(", ")}.`);
  }
  const found = await list(ctx, wanted);
  if (!found.isWhole) {
    const said = `These sessions have more than the ${LARGEST_ANSWER >> 20} MB that an answer may have: `;
    return refused(413, "too_large", `${said}ask for fewer, with status, tag or limit=${found.fitting}.`);
  }
  const frame = FRAMES[wanted.format];
  const name = `sessions${status === undefined ? "" : `-${status}`}.${frame.suffix}`;
  const headers = { "content-type": frame.mediaType, "content-disposition": `attachment; filename="${name}"` };
  return new Response(streamed(ctx, found.parts, frame), { headers: { ...HEADERS, ...headers } });
}

/** What a query asks for, or why it is refused. */
function parse(query: string): Wanted | string {
  if (query.length > LONGEST_QUERY) return "The query is too long.";
  const fields = fieldsOf(query);
  if (fields === null) return "The query is not well formed: NAME=VALUE&NAME=VALUE, percent-encoded UTF-8.";
  const values = new Map<string, string[]>();
  for (const [name, value] of fields) {
    if (!PARAMETERS.includes(name)) return `There is no parameter '${name.slice(0, 60)}': ${PARAMETERS.join(", ")}.`;
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  const twice = PARAMETERS.find((name) => name !== "tag" && (values.get(name)?.length ?? 0) > 1);
  if (twice !== undefined) return `The parameter ${twice} is given twice.`;
  const one = (name: string): string | undefined => values.get(name)?.[0];
  const formats = Object.keys(FRAMES) as Format[];
  const format = formats.find((each) => each === one("format"));
  if (format === undefined) return `The parameter format is one of ${formats.join(", ")}.`;
  const status = STATUSES.find((each) => each === one("status"));
  if (status === undefined && one("status") !== undefined) {
    return `The parameter status is one of ${STATUSES.join(", ")}.`;
  }
  const tags = values.get("tag") ?? [];
  if (tags.some((tag) => tag === "" || tag.includes("\n"))) return "The parameter tag is a tag.";
  const limit = one("limit") ?? `${MOST_SESSIONS}`;
  if (!/^[0-9]{1,12}$/.test(limit) || Number(limit) < 1 || Number(limit) > MOST_SESSIONS) {
    return `The parameter limit is a number of sessions, from 1 to ${MOST_SESSIONS}.`;
  }
  return { format, status, tags, limit: Number(limit) };
}

/** Null for a query that is not well formed. */
function fieldsOf(query: string): [string, string][] | null {
  if (query === "") return [];
  const fields = query.split("&").map((field) => field.split(/=(.*)/s));
  if (fields.length > MOST_FIELDS || fields.some(([, value]) => value === undefined)) return null;
  try {
    return fields.map(([name, value]) => [decoded(name!), decoded(value!)]);
  } catch {
    return null;
  }
}

function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}

interface Found {
  readonly parts: readonly Part[];
  /** Whether an answer can have them all. */
  readonly isWhole: boolean;
  /** How many sessions an answer can have. */
  readonly fitting: number;
}

async function list(ctx: ActionCtx, { format, status, tags, limit }: Wanted): Promise<Found> {
  const { opening, separator, closing } = FRAMES[format];
  const parts: Part[] = [];
  let size = opening.length + closing.length;
  let sessions = 0;
  let cursor: string | null = null;
  do {
    const args = { format, tags, cursor, ...(status === undefined ? {} : { status }) };
    const page: { parts: (Part | null)[]; cursor: string | null } = await ctx.runQuery(internal.sessions.page, args);
    for (const part of page.parts) {
      if (sessions === limit) return { parts, isWhole: true, fitting: sessions };
      size += part === null ? 0 : part.size + separator.length;
      if (size > LARGEST_ANSWER) return { parts, isWhole: false, fitting: sessions };
      sessions += 1;
      if (part !== null) parts.push(part);
    }
    cursor = page.cursor;
  } while (cursor !== null);
  return { parts, isWhole: true, fitting: sessions };
}

/** The file, part after part; cut off where one has been replaced or withdrawn since it was listed. */
function streamed(ctx: ActionCtx, parts: readonly Part[], frame: Frame): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const fetched: Promise<Blob | null>[] = [];
  let next = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (let at = fetched.length; at < Math.min(parts.length, next + FETCHED_AHEAD); at++) {
        fetched.push(ctx.storage.get(parts[at]!.storageId).catch(() => null));
      }
      if (next === parts.length) {
        controller.enqueue(encoder.encode(next === 0 ? frame.empty : frame.closing));
        controller.close();
        return;
      }
      const file = await fetched[next];
      if (!file) throw new ConvexError("A session was pushed or withdrawn while it was exported");
      controller.enqueue(encoder.encode(next === 0 ? frame.opening : frame.separator));
      controller.enqueue(new Uint8Array(await file.arrayBuffer()));
      delete fetched[next];
      next += 1;
    },
  });
}
