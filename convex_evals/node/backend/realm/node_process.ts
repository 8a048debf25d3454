/** The backend's end of the process in which an app's "use node" modules run. */

import { AsyncLocalStorage } from "node:async_hooks";
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ENDING } from "../../code_cache.ts";
import type { FromNode, SentBlob, ToNode } from "../node_messages.ts";
import type { Outcome } from "../outcomes.ts";
import { detached } from "../timers.ts";
import { asError, checked } from "./outcome.ts";
import type { LogLevel } from "../runtime_types.ts";

const PROGRAM = fileURLToPath(new URL(`../node_process/main${ENDING}`, import.meta.url));
const FLAGS = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", "--disable-sigusr1"];
const LOOK_MS = 50;
// As in Convex's own runtime, where an action's work ends with it.
const HAS_ENDED = "The action has already ended: await what it starts";
const LEVELS: ReadonlySet<string> = new Set(["LOG", "INFO", "DEBUG", "WARN", "ERROR"]);

/** What the modules need of the backend. */
export interface NodeHost {
  /** Module texts by identifier. */
  readonly sources: Readonly<Record<string, string>>;
  /** A folder whose `node_modules` they may import from. */
  readonly packages: string | null;
  /** How long their code may run without letting anything else run. */
  readonly busyMs: number;
  env(): Readonly<Record<string, string>>;
  log(level: LogLevel, text: string): void;
  asyncSyscall(op: string, args: string): Promise<unknown>;
  jsSyscall(op: string, args: object): Promise<unknown>;
}

interface Call {
  readonly inContext: <T>(run: () => T) => T;
  settle(outcome: Outcome): void;
}

/** Starts with the first question, and again after it has ended. */
export class NodeProcess {
  readonly #host: NodeHost;
  readonly #calls = new Map<number, Call>();
  #child: ChildProcess | null = null;
  #nextId = 1;
  #ready = false;
  #unanswered: ToNode[] = [];
  #watch: NodeJS.Timeout | undefined;
  #silentMs = 0;
  #closed = false;
  #retired: (() => void) | null = null;

  constructor(host: NodeHost) {
    this.#host = host;
  }

  /** Loads a module; resolves to its `ModuleInspection` as JSON text. Rejects with what it threw. */
  async evaluate(path: string): Promise<string> {
    const outcome = await this.#ask((id) => ({ kind: "evaluate", id, path }));
    if ("error" in outcome) throw asError(outcome.error);
    return outcome.value;
  }

  /** Runs an action. `args` and the outcome's value are JSON texts. */
  async invoke(path: string, name: string, args: string): Promise<Outcome> {
    return await this.#ask((id) => ({ kind: "invoke", id, path, name, args }));
  }

  /** Ends the process, for good. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#end("The deployment was replaced");
    this.#retired?.();
  }

  /** Ends the process once what runs has ended, and says so. Nothing may be asked of it afterwards. */
  retire(ended: () => void): void {
    this.#retired = ended;
    if (this.#calls.size === 0) this.close();
  }

  #ask(question: (id: number) => ToNode): Promise<Outcome> {
    const id = this.#nextId++;
    const inContext = AsyncLocalStorage.snapshot() as Call["inContext"];
    return new Promise((settle) => {
      if (this.#closed) return settle({ error: { message: "The deployment was replaced", failure: "ended" } });
      this.#calls.set(id, { inContext, settle });
      detached(() => this.#start());
      this.#say(question(id));
    });
  }

  #say(message: ToNode): void {
    if (this.#ready && this.#child?.connected) this.#child.send(message, () => {});
    else this.#unanswered.push(message);
  }

  #start(): void {
    this.#watch ??= setInterval(() => this.#look(), LOOK_MS).unref();
    if (this.#child) return;
    const child = fork(PROGRAM, { execArgv: FLAGS, env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"] });
    this.#child = child;
    started.add(child);
    child.on("message", (message) => void (this.#child === child && this.#receive(message as FromNode)));
    child.on("error", () => this.#ended(child, "could not be started"));
    child.on("exit", (code, signal) => {
      started.delete(child);
      this.#ended(child, signal ? `was ended by ${signal}` : `ended with status ${code}`);
    });
    child.unref();
    child.channel?.unref();
    const { sources, packages } = this.#host;
    child.send({ kind: "start", sources, packages, env: this.#host.env() } satisfies ToNode, () => {});
  }

  // What the app's code says is not to be trusted: it may say anything.
  #receive(message: FromNode): void {
    switch (message.kind) {
      case "ready":
        this.#ready = true;
        for (const waiting of this.#unanswered.splice(0)) this.#say(waiting);
        return;
      case "pong":
        this.#silentMs = 0;
        return;
      case "log":
        if (typeof message.text === "string" && LEVELS.has(message.level)) {
          this.#inContextOf(message.call, () => this.#host.log(message.level, message.text));
        }
        return;
      case "syscall":
        return void this.#syscall(message);
      case "outcome":
        return this.#settle(message.id, checked(message.outcome));
      default:
        message satisfies never;
    }
  }

  #inContextOf<T>(call: number, run: () => T): T {
    const known = this.#calls.get(call);
    return known ? known.inContext(run) : detached(run);
  }

  async #syscall({ id, call, how, op, args, blob }: Extract<FromNode, { kind: "syscall" }>): Promise<void> {
    if (!this.#calls.has(call)) return this.#say({ kind: "answer", id, error: { message: HAS_ENDED } });
    const answer = await this.#inContextOf(call, async (): Promise<ToNode> => {
      try {
        if (how === "async") {
          return { kind: "answer", id, value: await this.#host.asyncSyscall(String(op), String(args)) };
        }
        const given = { ...(JSON.parse(String(args)) as object), ...(blob ? { blob: received(blob) } : {}) };
        const value = await this.#host.jsSyscall(String(op), given);
        return value instanceof Blob ? { kind: "answer", id, blob: await sent(value) } : { kind: "answer", id, value };
      } catch (error) {
        const { message, data } = error as { message?: unknown; data?: unknown };
        return { kind: "answer", id, error: { message: String(message), ...(data === undefined ? {} : { data }) } };
      }
    });
    this.#say(answer);
  }

  #settle(id: number, outcome: Outcome): void {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    call.settle(outcome);
    if (this.#calls.size > 0) return;
    if (this.#retired) this.close();
    else this.#rest();
  }

  #rest(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
    this.#silentMs = 0;
  }

  // Only time in which we ourselves ran counts.
  #look(): void {
    if (!this.#ready) return;
    this.#silentMs += LOOK_MS;
    if (this.#silentMs > this.#host.busyMs) {
      this.#end(`Function execution timed out (maximum duration: ${this.#host.busyMs / 1000}s)`);
    } else this.#say({ kind: "ping" });
  }

  #ended(child: ChildProcess, what: string): void {
    if (this.#child === child) this.#end(`Uncaught Error: the Node.js process of the app ${what}`);
  }

  #end(message: string): void {
    const child = this.#child;
    this.#child = null;
    this.#ready = false;
    this.#unanswered = [];
    child?.kill("SIGKILL");
    this.#rest();
    for (const id of [...this.#calls.keys()]) this.#settle(id, { error: { message, failure: "ended" } });
  }
}

const started = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of started) child.kill("SIGKILL");
});

function received({ type, bytes }: SentBlob): Blob {
  return new Blob([Buffer.from(String(bytes), "base64")], { type: String(type) });
}

async function sent(blob: Blob): Promise<SentBlob> {
  return { type: blob.type, bytes: Buffer.from(await blob.arrayBuffer()).toString("base64") };
}
