/** The one app of this process: its data, its current deployment, and every way to run a function. */

import { Authenticator, type Caller } from "../auth.ts";
import { CronTimers, type CronJob, type CronStatus } from "../crons.ts";
import { DeployError } from "../errors.ts";
import type { AppSurroundings } from "../push/app_code.ts";
import { PushEvaluation } from "../push/evaluate.ts";
import { splitUdfPath } from "../push/evaluated.ts";
import type { StartPushRequest } from "../push/request.ts";
import { checkPush } from "../push/rules/index.ts";
import { FunctionLog } from "../function_log.ts";
import { Scheduler } from "../scheduler.ts";
import { FileUrls, type FileAddress } from "../storage.ts";
import { everything, machineFolders, withoutPaths, type Told } from "../machine_paths.ts";
import { detached } from "../timers.ts";
import { noComponent, outcomeOf, resolveCall, type AppCall, type CallOutcome } from "./call.ts";
import { newCallRecord, withCallRecord, type CallRecord } from "./call_record.ts";
import { DataStore } from "../data_store.ts";
import { Deployment, newLoadPhase, syscallsOf, type PreparedContext } from "./deployment.ts";
import { createEngineContext } from "../realm/globals.ts";
import { Environment, type AppUrls } from "./environment.ts";
import { FunctionHandles } from "./function_handles.ts";
import { createHost, type FunctionLimits } from "./host.ts";
import { routeRequest } from "./http_mounts.ts";
import { KeptApp, type KeptData } from "./kept_app.ts";
import type { DocumentRead, DocumentWrite, FailedCall, FailedHttpAction, FunctionResult } from "../runtime_types.ts";
import type { RuntimeHost, ScheduledJob } from "../runtime_types.ts";
import { loadRuntime } from "../realm/runtime_loader.ts";
import { readDocuments } from "./stored_documents.ts";
import { TableNumbers } from "./table_numbers.ts";
import { ownTurn } from "../realm/executions.ts";

export interface AppSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly limits: FunctionLimits;
  readonly onLog: (line: string) => void;
  /** Where its data are kept; unless given, they end with the process. */
  readonly data?: KeptData;
  /** Runs a function under `_system/`: they are written in terms of the app. */
  readonly callSystemFunction: (app: App, call: AppCall) => Promise<FunctionResult>;
}

export class App {
  readonly store = new DataStore();
  readonly files: FileUrls;
  readonly log = new FunctionLog();
  /** Prints a line of the deployment's own. */
  readonly report: (line: string) => void;
  /** What clients may read of an error. */
  readonly told: Told;
  readonly auth = new Authenticator(() => this.#deployment?.authProviders() ?? []);
  readonly environment: Environment;
  readonly #kept: KeptApp | null;
  readonly #scheduler: Scheduler;
  readonly #crons: CronTimers;
  readonly #host: RuntimeHost;
  readonly #limits: FunctionLimits;
  readonly #callSystemFunction: AppSettings["callSystemFunction"];
  readonly #deployed = new Set<() => void>();
  #deployment: Deployment | null = null;
  #prepared: Promise<PreparedContext> | null = null;

  /** Throws `StorageError` where data cannot be kept in its folder. */
  constructor(urls: AppUrls, { env, onLog, limits, data, callSystemFunction }: AppSettings) {
    const kept = data ? new KeptApp(data.folder, this.store, data) : null;
    this.#kept = kept;
    this.store.keeper = kept;
    this.report = onLog;
    this.told = data ? withoutPaths(machineFolders(data.folder)) : everything;
    this.#limits = limits;
    this.#callSystemFunction = callSystemFunction;
    this.files = new FileUrls(() => urls.cloudUrl(), kept?.secret, kept && (() => kept.files()));
    this.environment = new Environment([...Object.entries(env), ...(kept?.environment ?? [])], urls);
    this.#scheduler = new Scheduler((job) => this.#runJob(job));
    const runCron = async ({ componentPath, spec }: CronJob): Promise<void> => {
      const args = spec.args[0] ?? {};
      await this.call({ type: "any", path: spec.name, componentPath, args, caller: { kind: "admin", identity: null } });
    };
    this.#crons = new CronTimers(runCron, kept?.crons, (key, times) => kept?.noteCron(key, times));
    this.#host = createHost({
      store: this.store,
      scheduler: this.#scheduler,
      files: this.files,
      tables: new TableNumbers(kept?.tables, (name, number) => kept?.append({ kind: "table", name, number })),
      handles: new FunctionHandles(kept?.handles, (fn, handle) => kept?.append({ kind: "handle", fn, handle })),
      limits,
      siteUrl: () => urls.siteUrl(),
      onLog,
      told: this.told,
    });
    this.store.onCommit((commit) => this.#scheduler.onCommit(commit));
    if (kept) kept.scheduled = () => this.#scheduler.announced;
  }

  /** Goes on where the process before was ended: with its deployment, its files and the jobs that are due. */
  async resume(): Promise<void> {
    const kept = this.#kept;
    if (!kept) return;
    await kept.openFiles();
    if (kept.request) this.activate(await this.evaluate(kept.request, kept.load));
    for (const job of kept.resumableJobs()) this.#scheduler.resume(job);
  }

  get deployment(): Deployment | null {
    return this.#deployment;
  }

  /** Loads the engine ahead of the next push. */
  prepare(): Promise<PreparedContext> {
    this.#prepared ??= detached(async () => {
      const context = createEngineContext();
      return { context, entry: await loadRuntime(context, this.#host) };
    });
    return this.#prepared;
  }

  /** Evaluates a push and applies the rules for pushes; the running app is not touched. */
  async evaluate(request: StartPushRequest, load = newLoadPhase()): Promise<Deployment> {
    const prepared = await this.prepare();
    this.#prepared = null;
    const { context, entry } = prepared;
    const surroundings: AppSurroundings = {
      busyMs: this.#limits.action.busyMs,
      transactionMs: () => this.store.clock.startedMs,
      log: (level, text) => this.#host.log(level, text),
      syscalls: syscallsOf(context),
    };
    const push = await PushEvaluation.run(request, this.environment.values, entry.errorText, surroundings, load);
    try {
      checkPush(push);
    } catch (error) {
      push.code.close();
      throw error;
    }
    return new Deployment(request, load, push, prepared);
  }

  /** The first document that the schemas of `deployment` refuse, or null. */
  dataMismatch(deployment: Deployment): { componentPath: string; error: string } | null {
    for (const { componentPath, definition } of deployment.components()) {
      if (!definition.schema) continue;
      const error = deployment.runtime.checkDocuments(componentPath, JSON.stringify(definition.schema));
      if (error !== null) return { componentPath, error };
    }
    return null;
  }

  /** Makes `deployment` the running one. */
  activate(deployment: Deployment): void {
    this.#kept?.keepPush(deployment.pushed, deployment.load);
    if (this.#deployment !== deployment) this.#deployment?.close();
    this.#deployment = deployment;
    this.#crons.replace(deployment.crons());
    for (const listener of this.#deployed) detached(listener);
  }

  onDeployed(listener: () => void): () => void {
    this.#deployed.add(listener);
    return () => this.#deployed.delete(listener);
  }

  /** Resolves once something is deployed. */
  async whenDeployed(): Promise<void> {
    if (!this.deployment) await new Promise<void>((resolve) => void this.onDeployed(resolve));
  }

  crons(): CronStatus[] {
    return this.#crons.list();
  }

  /** Sets variables, or takes those away whose value is null; functions see them from their next call on. */
  setEnvironmentVariables(changes: ReadonlyMap<string, string | null>): void {
    this.#kept?.keep({ kind: "environment", changes: Object.fromEntries(changes) });
    this.environment.change(changes);
    if (!this.#deployment) return;
    this.#deployment.push.code.renewProcesses();
    for (const listener of this.#deployed) detached(listener);
  }

  /**
   * Runs one function for a client. Failures of the function are results, not exceptions.
   *
   * `detached`: it is part of no other call, even where code of the app has caused it. `ownTurn`: when the watchdog
   * terminates code, the microtasks that are pending are lost; those of the caller must not be among them.
   */
  async call(call: AppCall): Promise<CallOutcome> {
    const startedMs = Date.now();
    const record = newCallRecord(this.#typeOf(call) === "Query", call.journal ?? null);
    const result = await detached(async () => {
      await ownTurn();
      return await withCallRecord(record, () => this.#dispatch(call, record));
    });
    this.log.add({ path: call.path, udfType: this.#typeOf(call), result, logLines: record.logLines, startedMs });
    return outcomeOf(result, record);
  }

  /**
   * Runs queries that all see the same committed state; `ts` is its timestamp.
   * `select` is called once no commit can come in between.
   */
  async snapshot(select: () => readonly AppCall[]): Promise<{ ts: bigint; outcomes: CallOutcome[] }> {
    return await detached(() =>
      this.store.lock.hold(async () => {
        const outcomes: CallOutcome[] = [];
        for (const call of select()) {
          const record = newCallRecord(true, call.journal ?? null);
          outcomes.push(outcomeOf(await withCallRecord(record, () => this.#dispatch(call, record)), record));
        }
        return { ts: this.store.lastCommitTs, outcomes };
      }),
    );
  }

  /** Runs an HTTP action. */
  async fetch(pathAndQuery: string, init: RequestInit, caller: Caller): Promise<Response | FailedHttpAction> {
    const deployment = this.#deployment;
    const pathname = pathAndQuery.split("?", 1)[0] ?? "/";
    const routed = deployment && routeRequest(deployment.push.app, pathname, init.method ?? "GET");
    if (!deployment || !routed) {
      return new Response("This Convex deployment does not have HTTP actions enabled.", { status: 404 });
    }
    const identity = caller.identity === null ? null : JSON.stringify(caller.identity);
    const answer = await detached(() =>
      withCallRecord(newCallRecord(), () => deployment.runtime.fetch({ pathAndQuery, init, ...routed }, identity)),
    );
    if (!("title" in answer)) return answer;
    return { ...this.#toldOf(answer, deployment), title: this.told(answer.title) };
  }

  /** The content of a committed file, or null once it is deleted. */
  storedFile({ componentPath, storageId }: FileAddress): Blob | null {
    const data = this.store.component(componentPath);
    return data.get(storageId) === undefined ? null : (data.files.get(storageId) ?? null);
  }

  /** Stores an upload; resolves to its storage id. */
  async storeFile(componentPath: string, blob: Blob): Promise<string> {
    const runtime = this.#deployment?.runtime;
    if (!runtime) throw new DeployError("NoDeployment", "Nothing has been deployed yet");
    return await detached(() => runtime.storeFile(componentPath, blob));
  }

  /** Reads documents for a system function, between transactions. */
  async readDocuments(componentPath: string, request: DocumentRead): Promise<FunctionResult> {
    if (!this.#deployment?.component(componentPath)) return noComponent(componentPath);
    await this.store.lock.acquire();
    try {
      return { ok: true, value: readDocuments(this.store.component(componentPath), request) };
    } finally {
      this.store.lock.release();
    }
  }

  /** Changes documents for a system function, in one transaction. */
  async changeDocuments(componentPath: string, request: DocumentWrite): Promise<FunctionResult> {
    const deployment = this.#deployment;
    if (!deployment?.component(componentPath)) return noComponent(componentPath);
    return JSON.parse(await deployment.runtime.changeDocuments(componentPath, request)) as FunctionResult;
  }

  close(): void {
    this.#scheduler.close();
    this.#crons.replace([]);
    this.#deployment?.close();
    this.#kept?.folder.close();
  }

  async #dispatch(call: AppCall, record: CallRecord): Promise<FunctionResult> {
    if (call.path.startsWith("_system/") && call.caller.kind === "admin") {
      record.readSet.addEverything();
      return await this.#callSystemFunction(this, call);
    }
    const resolved = resolveCall(call, this.#deployment);
    if ("refused" in resolved) return resolved.refused;
    const result = JSON.parse(
      await resolved.deployment.runtime.call(JSON.stringify(resolved.request)),
    ) as FunctionResult;
    return result.ok ? result : this.#toldOf(result, resolved.deployment);
  }

  #toldOf<T extends FailedCall>(failed: T, { push }: Deployment): T {
    return { ...failed, errorMessage: this.told(push.code.sourceMaps.translate(failed.errorMessage)) };
  }

  #typeOf(call: AppCall): "Query" | "Mutation" | "Action" {
    const [module, name] = splitUdfPath(call.path);
    return this.#deployment?.function(call.componentPath, `${module}:${name}`)?.udfType ?? "Query";
  }

  async #runJob(job: ScheduledJob): Promise<void> {
    await detached(() =>
      withCallRecord(newCallRecord(), async () => await this.#deployment?.runtime.runJob(JSON.stringify(job))),
    );
  }
}
