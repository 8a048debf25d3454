/**
 * What crosses the border between the host (Node's main realm) and the vm
 * context of the engine. Values cross as JSON text: an object of one realm is
 * not an instance of the other's classes.
 */

import type { ComponentData, Write } from "./data_store.ts";
import type { HttpOutcome } from "./outcomes.ts";

export type FunctionType = "query" | "mutation" | "action";

/** A Convex value in Convex's JSON encoding (`convexToJson`). */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** What `ctx.auth.getUserIdentity()` returns. */
export interface UserIdentity {
  subject: string;
  issuer: string;
  tokenIdentifier: string;
  [claim: string]: JsonValue | undefined;
}

export interface FunctionCall {
  readonly type: FunctionType;
  readonly componentPath: string;
  /** `dir/module:name`, without `.js`. */
  readonly udfPath: string;
  readonly args: JsonValue;
  readonly identity: UserIdentity | null;
}

export type FunctionResult = { readonly ok: true; readonly value: JsonValue } | FailedCall;

export interface FailedCall {
  readonly ok: false;
  readonly errorMessage: string;
  readonly errorData?: JsonValue;
  /** Convex's code where it refuses the whole request: by HTTP, that is no answer like any other. */
  readonly refusal?: string;
}

export interface FailedHttpAction extends FailedCall {
  /** The error's text without frames. */
  readonly title: string;
}

export interface ScheduledJob {
  readonly jobId: string;
  /** Where the job's `_scheduled_functions` document lives. */
  readonly componentPath: string;
  readonly functionPath: { readonly componentPath: string; readonly udfPath: string };
  readonly args: JsonValue;
  /** Unix milliseconds. */
  readonly dueMs: number;
}

export type LogLevel = "LOG" | "INFO" | "DEBUG" | "WARN" | "ERROR";

/** A registered function as the analysis of a push reports it. */
export interface AnalyzedFunction {
  readonly name: string;
  readonly udfType: "Query" | "Mutation" | "Action";
  readonly visibility: { readonly kind: "public" | "internal" };
  /** Validator JSON text, as `exportArgs()` returns it. */
  readonly args: string;
  readonly returns: string;
  readonly pos: null;
}

export interface HttpRouteSpec {
  readonly path: string;
  readonly method: string;
}

/** One entry of `cronJobs().export()`. */
export interface CronSpec {
  readonly name: string;
  readonly args: JsonValue[];
  readonly schedule: CronSchedule;
}

export type CronSchedule =
  | { readonly type: "interval"; readonly seconds?: number; readonly minutes?: number; readonly hours?: number }
  | { readonly type: "hourly"; readonly minuteUTC?: number }
  | { readonly type: "daily"; readonly hourUTC: number; readonly minuteUTC?: number }
  | { readonly type: "weekly"; readonly dayOfWeek: string; readonly hourUTC: number; readonly minuteUTC?: number }
  | { readonly type: "monthly"; readonly day: number; readonly hourUTC: number; readonly minuteUTC?: number }
  | { readonly type: "cron"; readonly cron: string };

/** What the host finds out about one module by looking at its exports. */
export interface ModuleInspection {
  readonly functions: AnalyzedFunction[];
  readonly defaultExport: "missing" | "router" | "crons" | "other";
  readonly httpRoutes: HttpRouteSpec[];
  readonly crons: Record<string, CronSpec>;
}

/** Functions of the host that the engine calls. */
export interface RuntimeHost {
  committedData(componentPath: string): ComponentData;
  lastCommitTs(): bigint;
  /** A time for the next commit, in Unix nanoseconds. */
  nextCommitTs(): bigint;
  /** That of a document that the running transaction inserts. */
  nextCreationTime(): number;
  commit(ts: bigint): void;
  acquireTransaction(): Promise<void>;
  releaseTransaction(): void;
  recordRead(componentPath: string, table: string): void;
  journaledEndCursor(): string | null;
  journalEndCursor(cursor: string): void;
  log(level: LogLevel, line: string): void;
  jobScheduled(job: ScheduledJob): void;
  storageUrl(componentPath: string, storageId: string): string;
  uploadUrl(componentPath: string): string;
  siteUrl(): string;
  /** Announces a commit that must not be interrupted; `commit` ends it. Where it throws, nothing is committed. */
  committing(ts: bigint, writes: () => Write[]): void;
  /** Runs a top-level query or mutation; rejects when it spins or never settles. */
  guardTransaction<T>(run: () => Promise<T>): Promise<T>;
  /** Runs a query or mutation that another one called, on its time. */
  guardNested<T>(run: () => Promise<T>): Promise<T>;
  guardAction<T>(run: () => Promise<T>): Promise<T>;
  /** A query or mutation that the running one calls: it ends before its caller does, whether anybody awaits it or not. */
  called<T>(call: Promise<T>): Promise<T>;
  /** Called by every syscall. */
  signOfLife(): void;
  randomSeed(): number;
  /** The number that ids of `table` carry; made up when it has none yet. */
  tableNumber(table: string): number;
  tableName(number: number): string | null;
  /** The handle of a function, given as any text of its own. */
  functionHandle(fn: string): string;
  functionOfHandle(handle: string): string | null;
  base64Encode(bytes: Uint8Array): string;
  base64Decode(text: string): Uint8Array<ArrayBuffer>;
}

export interface ComponentSetup {
  readonly path: string;
  /** Validated `schema.export()` JSON, or null without a schema. */
  readonly schema: SchemaJson | null;
  /** What the analysis found, by the module's path without extension. */
  readonly functions: Readonly<Record<string, readonly AnalyzedFunction[]>>;
  /** Whether its `http` module exports a router. */
  readonly hasRouter: boolean;
}

/** Runs the app's code, outside of the engine's context. */
export interface Invoker {
  /** Calls a function of the module `name`; `args` is JSON text, and so is the `Outcome`. */
  call(componentPath: string, name: string, fn: AnalyzedFunction, args: string): Promise<string>;
  /** Calls the HTTP action that the component's router has for a route. */
  fetch(
    componentPath: string,
    route: { readonly path: string; readonly method: string },
    request: Request,
  ): Promise<HttpOutcome>;
}

export interface ValidatorJson {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface IndexJson {
  readonly indexDescriptor: string;
  readonly fields: string[];
}

export interface SearchIndexJson {
  readonly indexDescriptor: string;
  readonly searchField: string;
  readonly filterFields: string[];
}

export interface VectorIndexJson {
  readonly indexDescriptor: string;
  readonly vectorField: string;
  readonly dimensions: number;
  readonly filterFields: string[];
}

export interface TableJson {
  readonly tableName: string;
  readonly indexes: IndexJson[];
  readonly stagedDbIndexes?: IndexJson[];
  readonly searchIndexes: SearchIndexJson[];
  readonly stagedSearchIndexes?: SearchIndexJson[];
  readonly vectorIndexes: VectorIndexJson[];
  readonly stagedVectorIndexes?: VectorIndexJson[];
  readonly documentType: ValidatorJson;
}

/** `SchemaDefinition.export()`, parsed. */
export interface SchemaJson {
  readonly tables: TableJson[];
  readonly schemaValidation: boolean;
}

/** A request for documents, for system functions. */
export type DocumentRead =
  | { readonly op: "scan"; readonly table: string; readonly order: "asc" | "desc"; readonly limit: number }
  | {
      readonly op: "page";
      readonly table: string;
      readonly order: "asc" | "desc";
      readonly cursor: string | null;
      readonly limit: number;
    }
  | { readonly op: "get"; readonly ids: readonly { readonly id: string; readonly tableName: string }[] };

/** A change of documents, for system functions; each runs in one transaction. */
export type DocumentWrite =
  | { readonly op: "insert"; readonly table: string; readonly documents: JsonValue[] }
  | { readonly op: "patch"; readonly table: string; readonly ids: readonly string[] | null; readonly fields: JsonValue }
  | { readonly op: "replace"; readonly id: string; readonly document: JsonValue }
  | { readonly op: "delete"; readonly ids: string[] }
  /** Deletes the oldest `limit` documents; says how many, the last one's id (null where there was none), and whether there are more. */
  | { readonly op: "clear"; readonly table: string; readonly limit: number };

export interface HttpActionRequest {
  readonly pathAndQuery: string;
  readonly init: RequestInit;
  readonly componentPath: string;
  /** The path to look up in the component's router. */
  readonly route: string;
}

/** The engine of one deployment: convex-test, in a context of its own. */
export interface Runtime {
  /** Runs a function; resolves to a `FunctionResult` as JSON text. */
  call(callJson: string): Promise<string>;
  /** Runs an HTTP action; the body of the response may still be streaming. */
  fetch(request: HttpActionRequest, identityJson: string | null): Promise<Response | FailedHttpAction>;
  runJob(jobJson: string): Promise<void>;
  /** Makes a change of plain JSON; resolves to a `FunctionResult` as JSON text. */
  changeDocuments(componentPath: string, request: DocumentWrite): Promise<string>;
  storeFile(componentPath: string, blob: Blob): Promise<string>;
  /** The first committed document that does not match, or null. */
  checkDocuments(componentPath: string, schemaJson: string): string | null;
}

/** What the entry module of the engine's context exports. */
export interface RuntimeEntry {
  createRuntime(components: ComponentSetup[], invoker: Invoker): Runtime;
  errorText(error: unknown): string;
}
