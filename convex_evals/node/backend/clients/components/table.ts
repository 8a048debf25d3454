/** Components that Convex publishes, and for each an app that uses it as its documentation does. */

import type { Value } from "convex/values";

export interface PublishedComponent {
  readonly name: string;
  readonly version: string;
  /** Other packages that it asks for, where the app needs them. */
  readonly peers?: Readonly<Record<string, string>>;
  /** Variables that its environment has to have. */
  readonly env?: Readonly<Record<string, string>>;
  /** `convex/m.ts`, after its imports. */
  readonly app: string;
  /** Other files of the app. */
  readonly files?: Readonly<Record<string, string>>;
  /** Calls in turn; the last one is repeated until it gives `value`. */
  readonly calls: readonly (readonly [kind: "query" | "mutation" | "action", name: string])[];
  readonly value: Value;
}

const HELPERS = { "convex-helpers": "0.1.122" };

const AI = { zod: "4.1.12", ai: "7.0.173", "@ai-sdk/provider": "4.0.38", "@ai-sdk/provider-utils": "5.0.81" };

const imported = (name: string, what: string): string => `import { ${what} } from "@convex-dev/${name}";\n`;

const scheduled: readonly PublishedComponent[] = [
  {
    name: "action-retrier",
    version: "0.3.1",
    app: `${imported("action-retrier", "ActionRetrier, runIdValidator")}
const retrier = new ActionRetrier(components.actionRetrier, { initialBackoffMs: 10 });
export const flaky = internalAction({ args: {}, handler: async (ctx): Promise<string> => { if ((await ctx.runMutation(internal.m.count, {})) < 2) throw new Error("not yet"); return "done"; } });
export const count = internalMutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("tries", {}); return (await ctx.db.query("tries").collect()).length; } });
export const start = mutation({ args: {}, handler: async (ctx): Promise<string> => await ctx.db.insert("runs", { id: await retrier.run(ctx, internal.m.flaky, {}) }) });
export const status = query({ args: {}, handler: async (ctx): Promise<any> => { const run: any = await ctx.db.query("runs").first(); const found: any = await retrier.status(ctx, run.id); return found.result?.returnValue ?? found.type; } });`,
    calls: [
      ["mutation", "start"],
      ["query", "status"],
    ],
    value: "done",
  },
  {
    name: "batch-worker",
    version: "0.3.3",
    app: `${imported("batch-worker", "defineBatchWorkerValidators, ping")}
const { vQueryArgs, vQueryReturns, vMutationArgs } = defineBatchWorkerValidators({ batch: { ids: v.array(v.id("events")) } });
export const getBatch = internalQuery({ args: vQueryArgs, returns: vQueryReturns, handler: async (ctx, { cursor }): Promise<any> => { const events: any[] = await ctx.db.query("events").withIndex("insertedAt", (q: any) => q.gte("insertedAt", cursor ?? 0n)).take(2); return events.length === 0 ? { kind: "idle" as const } : { kind: "work" as const, batch: { ids: events.map((event) => event._id) }, cursor: events.at(-1).insertedAt }; } });
export const processBatch = internalMutation({ args: vMutationArgs, handler: async (ctx, { ids }) => { for (const id of ids) { await ctx.db.delete(id as any); await ctx.db.insert("done", {}); } } });
export const add = mutation({ args: {}, handler: async (ctx) => { for (const value of [1, 2, 3]) await ctx.db.insert("events", { value, insertedAt: ctx.db.vars.commitTs }); await ping(ctx, components.batchWorker, { name: "events", workQuery: internal.m.getBatch as any, workerMutation: internal.m.processBatch as any }); } });
export const done = query({ args: {}, handler: async (ctx) => [(await ctx.db.query("events").collect()).length, (await ctx.db.query("done").collect()).length] });`,
    files: {
      "convex/schema.ts":
        'import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ events: defineTable({ value: v.number(), insertedAt: v.commitTs() }).index("insertedAt", ["insertedAt"]), done: defineTable({}) });',
    },
    calls: [
      ["mutation", "add"],
      ["query", "done"],
    ],
    value: [0, 3],
  },
  {
    name: "crons",
    version: "0.2.2",
    app: `${imported("crons", "Crons")}
const crons = new Crons(components.crons);
export const tick = internalMutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("ticks", {}); } });
export const register = mutation({ args: {}, handler: async (ctx): Promise<any> => { await crons.register(ctx, { kind: "interval", ms: 1000 }, internal.m.tick, {}, "often"); await crons.register(ctx, { kind: "cron", cronspec: "0 0 * * 1" }, internal.m.tick, {}); } });
export const found = query({ args: {}, handler: async (ctx): Promise<any> => [(await crons.list(ctx)).length, (await crons.get(ctx, { name: "often" }))?.schedule.kind, (await ctx.db.query("ticks").collect()).length > 0] });`,
    calls: [
      ["mutation", "register"],
      ["query", "found"],
    ],
    value: [2, "interval", true],
  },
  {
    name: "migrations",
    version: "0.3.6",
    peers: HELPERS,
    app: `${imported("migrations", "Migrations")}
const migrations = new Migrations(components.migrations) as any;
export const runner = migrations.runner();
export const rename = migrations.define({ table: "users", batchSize: 2, migrateOne: async (_ctx: any, user: any) => ({ name: user.name.toUpperCase() }) });
export const start = mutation({ args: {}, handler: async (ctx): Promise<any> => { for (const name of ["a", "b", "c"]) await ctx.db.insert("users", { name }); await migrations.runOne(ctx, (internal as any).m.rename); } });
export const names = query({ args: {}, handler: async (ctx) => (await ctx.db.query("users").collect()).map((user: any) => user.name) });`,
    calls: [
      ["mutation", "start"],
      ["query", "names"],
    ],
    value: ["A", "B", "C"],
  },
  {
    name: "workflow",
    version: "0.4.8",
    peers: { ...HELPERS, "@convex-dev/workpool": "0.4.12" },
    app: `${imported("workflow", "WorkflowManager")}
const workflow = new WorkflowManager(components.workflow);
export const one = internalAction({ args: { n: v.number() }, handler: async (_ctx, { n }) => n + 1 });
export const two = internalMutation({ args: { n: v.number() }, handler: async (ctx, { n }) => { await ctx.db.insert("steps", { n }); return n * 10; } });
export const flow = workflow.define({ args: { n: v.number() } }).handler(async (step: any, { n }: any): Promise<number> => { const added = await step.runAction(internal.m.one, { n }, { retry: true }); return await step.runMutation(internal.m.two, { n: added }); });
export const start = mutation({ args: {}, handler: async (ctx): Promise<any> => { await ctx.db.insert("flows", { id: await workflow.start(ctx, (internal as any).m.flow, { n: 4 }) }); } });
export const status = query({ args: {}, handler: async (ctx): Promise<any> => { const flow: any = await ctx.db.query("flows").first(); const status: any = await workflow.status(ctx, flow.id); return status.result ?? status.type; } });`,
    calls: [
      ["mutation", "start"],
      ["query", "status"],
    ],
    value: 50,
  },
  {
    name: "workpool",
    version: "0.4.12",
    peers: HELPERS,
    app: `${imported("workpool", "Workpool, vOnCompleteArgs")}
const pool = new Workpool(components.workpool, { maxParallelism: 2 });
export const work = internalAction({ args: { n: v.number() }, handler: async (_ctx, { n }) => n * n });
export const finished = internalMutation({ args: vOnCompleteArgs(v.number()) as any, handler: async (ctx: any, { context, result }: any) => { await ctx.db.insert("results", { context, value: result.returnValue }); } });
export const start = mutation({ args: {}, handler: async (ctx) => { for (const n of [1, 2, 3]) await pool.enqueueAction(ctx, internal.m.work, { n }, { onComplete: internal.m.finished as any, context: n }); } });
export const results = query({ args: {}, handler: async (ctx) => (await ctx.db.query("results").collect()).map((result: any) => result.value).sort() });`,
    calls: [
      ["mutation", "start"],
      ["query", "results"],
    ],
    value: [1, 4, 9],
  },
];

const stored: readonly PublishedComponent[] = [
  {
    name: "action-cache",
    version: "0.3.1",
    app: `${imported("action-cache", "ActionCache")}
const cache: any = new ActionCache(components.actionCache, { action: (internal as any).m.costly, name: "costly" });
export const costly = internalAction({ args: { n: v.number() }, handler: async (ctx, { n }): Promise<number> => { await ctx.runMutation(internal.m.note, {}); return n * 2; } });
export const note = internalMutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("calls", {}); } });
export const calls = internalQuery({ args: {}, handler: async (ctx) => (await ctx.db.query("calls").collect()).length });
export const twice = action({ args: {}, handler: async (ctx): Promise<any> => [await cache.fetch(ctx, { n: 4 }), await cache.fetch(ctx, { n: 4 }), await ctx.runQuery(internal.m.calls, {})] });`,
    calls: [["action", "twice"]],
    value: [8, 8, 1],
  },
  {
    name: "aggregate",
    version: "0.3.1",
    app: `${imported("aggregate", "TableAggregate")}
const scores = new TableAggregate<any>(components.aggregate, { sortKey: (doc: any) => doc.score, sumValue: (doc: any) => doc.score } as any);
export const add = mutation({ args: {}, handler: async (ctx) => { for (const score of [30, 10, 20]) { const id = await ctx.db.insert("scores", { score }); await scores.insert(ctx as any, (await ctx.db.get(id))!); } } });
export const stats = query({ args: {}, handler: async (ctx): Promise<any> => [await scores.count(ctx as any), await scores.sum(ctx as any), (await scores.at(ctx as any, 0)).key, (await scores.max(ctx as any))?.key] });`,
    calls: [
      ["mutation", "add"],
      ["query", "stats"],
    ],
    value: [3, 60, 10, 30],
  },
  {
    name: "geospatial",
    version: "0.2.1",
    app: `${imported("geospatial", "GeospatialIndex")}
const places = new GeospatialIndex<any, any>(components.geospatial);
export const add = mutation({ args: {}, handler: async (ctx) => { await places.insert(ctx, "museum", { latitude: 40.7813, longitude: -73.9737 }, { kind: "museum" }, 28); await places.insert(ctx, "tower", { latitude: 48.8584, longitude: 2.2945 }, { kind: "tower" }, 1); } });
export const near = query({ args: {}, handler: async (ctx): Promise<any> => { const { results } = await places.query(ctx, { shape: { type: "rectangle", rectangle: { west: -75, east: -73, south: 40, north: 41 } } }); return results.map(({ key }: any) => key); } });`,
    calls: [
      ["mutation", "add"],
      ["query", "near"],
    ],
    value: ["museum"],
  },
  {
    name: "persistent-text-streaming",
    version: "0.3.3",
    app: `${imported("persistent-text-streaming", "PersistentTextStreaming")}
const streaming = new PersistentTextStreaming(components.persistentTextStreaming);
export const start = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("streams", { id: await streaming.createStream(ctx) }); } });
export const first = internalQuery({ args: {}, handler: async (ctx): Promise<any> => await ctx.db.query("streams").first() });
export const write = action({ args: {}, handler: async (ctx): Promise<any> => { const stream = await ctx.runQuery(internal.m.first, {}); const response = await streaming.stream(ctx as any, new Request("https://example.com"), stream.id, async (_ctx: any, _request: any, _id: any, append: any) => { await append("Hello, "); await append("world."); }); return await response.text(); } });
export const body = query({ args: {}, handler: async (ctx): Promise<any> => { const stream: any = await ctx.db.query("streams").first(); return await streaming.getStreamBody(ctx, stream.id); } });`,
    calls: [
      ["mutation", "start"],
      ["action", "write"],
      ["query", "body"],
    ],
    value: { status: "done", text: "Hello, world." },
  },
  {
    name: "presence",
    version: "0.4.0",
    app: `${imported("presence", "Presence")}
const presence = new Presence(components.presence);
export const enter = mutation({ args: {}, handler: async (ctx): Promise<any> => { const { roomToken } = await presence.heartbeat(ctx, "room", "ada", "session", 10_000); await ctx.db.insert("tokens", { roomToken }); } });
export const list = query({ args: {}, handler: async (ctx): Promise<any> => { const token: any = await ctx.db.query("tokens").first(); return (await presence.list(ctx, token.roomToken)).map(({ userId, online }: any) => [userId, online]); } });`,
    calls: [
      ["mutation", "enter"],
      ["query", "list"],
    ],
    value: [["ada", true]],
  },
  {
    name: "prosemirror-sync",
    version: "0.2.6",
    peers: { "@tiptap/pm": "3.10.7" },
    app: `${imported("prosemirror-sync", "ProsemirrorSync")}
const sync = new ProsemirrorSync(components.prosemirrorSync);
export const { getSnapshot, submitSnapshot, latestVersion, getSteps, submitSteps } = sync.syncApi({});
export const create = mutation({ args: {}, handler: async (ctx) => await sync.create(ctx, "document", { type: "doc", content: [] }) });
export const version = query({ args: {}, handler: async (ctx): Promise<any> => [await ctx.runQuery(api.m.latestVersion as any, { id: "document" }), JSON.parse((await ctx.runQuery(api.m.getSnapshot as any, { id: "document" }) as any).content)] });`,
    calls: [
      ["mutation", "create"],
      ["query", "version"],
    ],
    value: [1, { type: "doc", content: [] }],
  },
  {
    name: "rate-limiter",
    version: "0.4.0",
    app: `${imported("rate-limiter", "RateLimiter, HOUR")}
const limiter = new RateLimiter(components.rateLimiter, { visit: { kind: "token bucket", rate: 2, period: HOUR } });
export const visit = mutation({ args: {}, handler: async (ctx): Promise<any> => { const oks = []; for (let i = 0; i < 3; i++) oks.push((await limiter.limit(ctx, "visit", { key: "ada" })).ok); return oks; } });`,
    calls: [["mutation", "visit"]],
    value: [true, true, false],
  },
  {
    name: "sharded-counter",
    version: "0.2.1",
    app: `${imported("sharded-counter", "ShardedCounter")}
const counter = new ShardedCounter(components.shardedCounter, { defaultShards: 4 });
export const count = mutation({ args: {}, handler: async (ctx) => { await counter.add(ctx, "boxes", 5); await counter.inc(ctx, "boxes"); await counter.dec(ctx, "boxes"); await counter.inc(ctx, "boxes"); } });
export const total = query({ args: {}, handler: async (ctx): Promise<any> => await counter.count(ctx, "boxes") });`,
    calls: [
      ["mutation", "count"],
      ["query", "total"],
    ],
    value: 6,
  },
];

/** What they would send to a service is not sent. */
const ofServices: readonly PublishedComponent[] = [
  {
    name: "agent",
    version: "0.7.3",
    peers: { ...HELPERS, ...AI },
    app: `${imported("agent", "createThread, listMessages, saveMessage")}
export const start = mutation({ args: {}, handler: async (ctx): Promise<any> => { const threadId = await createThread(ctx, components.agent as any, { userId: "ada" }); for (const content of ["Hello?", "Anybody?"]) await saveMessage(ctx, components.agent as any, { threadId, message: { role: "user", content } } as any); await ctx.db.insert("threads", { threadId }); } });
export const messages = query({ args: {}, handler: async (ctx): Promise<any> => { const { threadId }: any = await ctx.db.query("threads").first(); const { page } = await listMessages(ctx, components.agent as any, { threadId, paginationOpts: { cursor: null, numItems: 10 } }); return page.map(({ text }: any) => text).sort(); } });`,
    calls: [
      ["mutation", "start"],
      ["query", "messages"],
    ],
    value: ["Anybody?", "Hello?"],
  },
  {
    name: "expo-push-notifications",
    version: "0.3.1",
    app: `${imported("expo-push-notifications", "PushNotifications")}
const notifications = new PushNotifications<string>(components.pushNotifications);
export const register = mutation({ args: {}, handler: async (ctx): Promise<any> => { await notifications.recordToken(ctx, { userId: "ada", pushToken: "token" }); await notifications.pauseNotificationsForUser(ctx, { userId: "ada" }); } });
export const status = query({ args: {}, handler: async (ctx): Promise<any> => await notifications.getStatusForUser(ctx, { userId: "ada" }) });`,
    calls: [
      ["mutation", "register"],
      ["query", "status"],
    ],
    value: { hasToken: true, paused: true },
  },
  {
    name: "rag",
    version: "0.7.6",
    peers: { ...HELPERS, ...AI },
    app: `${imported("rag", "RAG")}
const model: any = { specificationVersion: "v3", provider: "none", modelId: "none", maxEmbeddingsPerCall: 10, supportsParallelCalls: true, doEmbed: async () => { throw new Error("not here"); } };
const rag: any = new RAG(components.rag, { textEmbeddingModel: model, embeddingDimension: 128 });
const direction = (at: number) => Array.from({ length: 128 }, (_, i) => (i === at ? 1 : 0));
export const search = action({ args: {}, handler: async (ctx): Promise<any> => {
  for (const [at, text] of [[0, "about cats"], [1, "about dogs"]] as const) await rag.add(ctx, { namespace: "pets", key: text, chunks: [{ text, embedding: direction(at) }] });
  const { results } = await rag.search(ctx, { namespace: "pets", query: direction(1), limit: 1 });
  return results.map((result: any) => result.content.map(({ text }: any) => text)); } });`,
    calls: [["action", "search"]],
    value: [["about dogs"]],
  },
  {
    name: "resend",
    version: "0.2.8",
    peers: HELPERS,
    env: { RESEND_API_KEY: "none" },
    app: `${imported("resend", "Resend")}
const resend = new Resend(components.resend, { testMode: true });
export const send = mutation({ args: {}, handler: async (ctx): Promise<any> => { const id = await resend.sendEmailManually(ctx, { from: "a@example.com", to: "delivered@resend.dev", subject: "Hi" }, async () => "sent-elsewhere"); await ctx.db.insert("emails", { id }); } });
export const status = query({ args: {}, handler: async (ctx): Promise<any> => { const email: any = await ctx.db.query("emails").first(); return (await resend.status(ctx, email.id))?.status; } });`,
    calls: [
      ["mutation", "send"],
      ["query", "status"],
    ],
    value: "sent",
  },
];

export const COMPONENTS: readonly PublishedComponent[] = [...scheduled, ...stored, ...ofServices].sort((a, b) =>
  a.name < b.name ? -1 : 1,
);
