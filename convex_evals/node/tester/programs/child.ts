/** `ChildProcess` for a program that the parent process runs for us: as Node's own to whoever uses it. */
import { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { Writable, type Readable } from "node:stream";
import { unpack } from "./archive.ts";
import type { Connection, Listener } from "./connection.ts";
import { KINDS, LONGEST_PAYLOAD, type Exit } from "./frames.ts";
import { errnoOf, requestOf, type Folders, type SpawnOptions } from "./request.ts";
import { descriptor, sink, stdioOf, withRef, type StdioEntry } from "./stdio.ts";

/** Above all numbers that the system gives. */
export const FIRST_PID = 5_000_000;
/** What a program may have printed or said that nobody has read, in bytes. */
const MOST_UNREAD = 64 * 1024 * 1024;
const LONGEST_MESSAGE = 16 * 1024 * 1024;

export interface AsyncOptions extends SpawnOptions {
  stdio?: StdioEntry[] | string | undefined;
  serialization?: string | undefined;
}

/** The parts of Node's `ChildProcess` that are not public, too. */
interface Internals {
  _handle: object | null;
  spawnfile: string;
  spawnargs: string[];
  pid: number | undefined;
  stdin: Writable | null;
  stdout: Readable | null;
  stderr: Readable | null;
  stdio: (Readable | Writable | null | undefined)[];
  exitCode: number | null;
  signalCode: NodeJS.Signals | null;
  connected: boolean;
  channel: object | null | undefined;
  send: unknown;
  disconnect: unknown;
  emit(event: string, ...values: unknown[]): boolean;
}

const running = new Map<number, (signal: NodeJS.Signals) => void>();

/** Ends the program with this number; false where there is none. */
export function killProgram(pid: number, signal: NodeJS.Signals): boolean {
  const kill = running.get(pid);
  kill?.(signal);
  return kill !== undefined;
}

class Program {
  readonly #child: Internals;
  readonly #connection: Connection;
  readonly #folders: Folders;
  readonly #pid: number;
  #id = 0;
  #asked: NodeJS.Signals | undefined;
  #heard = Buffer.alloc(0);

  constructor(child: Internals, connection: Connection, folders: Folders, pid: number) {
    this.#child = child;
    this.#connection = connection;
    this.#folders = folders;
    this.#pid = pid;
  }

  spawn(options: AsyncOptions): number {
    const child = this.#child;
    const [input, out, err, ...more] = stdioOf(options.stdio);
    const ipc = more.includes("ipc");
    if (options.serialization === "advanced") {
      throw new Error("A program that a grader starts can be sent messages in JSON alone");
    }
    const stdout = sink(out, 1);
    const stderr = sink(err, 2);
    child.spawnfile = options.file;
    child.spawnargs = [...(options.args ?? [])];
    const request = requestOf(options, { stdin: input !== "ignore", ipc, timeout: null }, this.#folders);
    const stdin = input === "pipe" || input === "overlapped" ? this.#input() : null;
    Object.assign(child, { stdin, stdout: stdout.stream, stderr: stderr.stream });
    child.stdio = [stdin, stdout.stream, stderr.stream, ...more.map(() => null)];
    if (typeof request === "string") return this.#fail(request, options);
    child.pid = this.#pid;
    child._handle = {
      kill: (signal: number) => this.#kill(signal),
      ref: () => undefined,
      unref: () => undefined,
      hasRef: () => false,
      pid: this.#pid,
    };
    running.set(this.#pid, (signal) => void this.#end(signal));
    this.#id = this.#connection.start(request, this.#listener(stdout.write, stderr.write));
    if (ipc) this.#openChannel();
    const fd = stdin === null && input !== "ignore" && input !== "inherit" ? descriptor(input, 0) : undefined;
    if (fd !== undefined) this.#connection.send(KINDS.stdin, this.#id, readFileSync(fd));
    if (stdin === null && input !== "ignore") this.#connection.send(KINDS.stdin, this.#id);
    process.nextTick(() => child.emit("spawn"));
    return 0;
  }

  /** As Node does where the system refuses: no exception, an event. */
  #fail(code: string, { file, args = [] }: AsyncOptions): number {
    const error = Object.assign(new Error(`spawn ${file} ${code}`), {
      errno: errnoOf(code),
      code,
      syscall: `spawn ${file}`,
      path: file,
      spawnargs: args.slice(1),
    });
    const { stdin, stdout, stderr } = this.#child;
    this.#child.exitCode = error.errno;
    this.#child._handle = null;
    process.nextTick(() => {
      stdin?.destroy();
      for (const stream of [stdout, stderr]) stream?.push(null);
      for (const stream of [stdout, stderr]) stream?.resume();
      this.#child.emit("error", error);
      setImmediate(() => this.#child.emit("close", error.errno, null));
    });
    return 0;
  }

  #input(): Writable {
    const send = (payload: Uint8Array, done: () => void): void =>
      this.#connection.send(KINDS.stdin, this.#id, payload, done);
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        for (let at = 0; at < chunk.length; at += LONGEST_PAYLOAD) {
          const last = at + LONGEST_PAYLOAD >= chunk.length;
          send(chunk.subarray(at, at + LONGEST_PAYLOAD), last ? done : () => undefined);
        }
        if (chunk.length === 0) done();
      },
      final: (done) => send(Buffer.alloc(0), done),
    });
    return withRef(stream);
  }

  #listener(stdout: (data: Buffer) => void, stderr: (data: Buffer) => void): Listener {
    const bounded = (write: (data: Buffer) => void, stream: Readable | null) => (data: Buffer) => {
      write(data);
      if ((stream?.readableLength ?? 0) > MOST_UNREAD) this.#end("SIGKILL");
    };
    return {
      stdout: bounded(stdout, this.#child.stdout),
      stderr: bounded(stderr, this.#child.stderr),
      ipc: (data) => this.#hear(data),
      exit: (exit, files) => {
        // The program's word is over: what it wrote is there before anybody hears that it has ended.
        if (files.length > 0) {
          unpack(files, this.#folders.base, [this.#folders.project, this.#folders.scratch], this.#folders.hidden);
        }
        stdout(Buffer.alloc(0));
        stderr(Buffer.alloc(0));
        this.#exited(exit);
      },
    };
  }

  #exited({ code, signal: reported, error }: Exit): void {
    const child = this.#child;
    running.delete(this.#pid);
    const signal = this.#asked !== undefined && code === null ? this.#asked : reported;
    child.exitCode = code;
    child.signalCode = signal;
    child._handle = null;
    child.stdin?.destroy();
    this.#closeChannel();
    if (error !== null) {
      child.emit("error", new Error(`${child.spawnfile}: ${error}`));
    } else child.emit("exit", code, signal);
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    let open = streams.length;
    const closed = (): void => {
      if (open-- === 0) child.emit("close", code, signal);
    };
    for (const stream of streams) {
      if (stream.closed) closed();
      else stream.once("close", closed);
      // As Node does: what nobody reads must not keep it from closing.
      if (stream.readableFlowing === null && stream.listenerCount("readable") === 0) stream.resume();
    }
    process.nextTick(closed);
  }

  /** Only the whole of a program can be ended, and no handler of its own is asked. */
  #kill(signal: number): number {
    if (signal !== 0) this.#end(signalName(signal));
    return 0;
  }

  #end(signal: NodeJS.Signals): void {
    this.#asked ??= signal;
    this.#connection.send(KINDS.kill, this.#id);
  }

  #openChannel(): void {
    const child = this.#child;
    child.connected = true;
    child.channel = { ref: () => undefined, unref: () => undefined };
    child.disconnect = () => {
      this.#connection.send(KINDS.ipc, this.#id);
      process.nextTick(() => this.#closeChannel());
    };
    child.send = (message: unknown, ...rest: unknown[]): boolean => {
      const done = rest.find((value) => typeof value === "function") as ((error: Error | null) => void) | undefined;
      const text = JSON.stringify(message);
      if (text === undefined) throw new TypeError("A message to a program must be a value in JSON");
      if (!child.connected) {
        const error = Object.assign(new Error("Channel closed"), { code: "ERR_IPC_CHANNEL_CLOSED" });
        process.nextTick(() => (done ? done(error) : child.emit("error", error)));
        return false;
      }
      const bytes = Buffer.from(`${text}\n`);
      for (let at = 0; at < bytes.length; at += LONGEST_PAYLOAD) {
        this.#connection.send(KINDS.ipc, this.#id, bytes.subarray(at, at + LONGEST_PAYLOAD));
      }
      if (done) process.nextTick(done, null);
      return true;
    };
  }

  #closeChannel(): void {
    if (!this.#child.connected) return;
    this.#child.connected = false;
    this.#child.channel = null;
    this.#child.emit("disconnect");
  }

  /** Messages come as lines; what is none is left out. */
  #hear(data: Buffer): void {
    if (data.length === 0) return this.#closeChannel();
    this.#heard = Buffer.concat([this.#heard, data]);
    let end: number;
    while ((end = this.#heard.indexOf(10)) >= 0) {
      const line = this.#heard.toString("utf8", 0, end);
      this.#heard = this.#heard.subarray(end + 1);
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        continue;
      }
      const internal =
        typeof (message as { cmd?: unknown } | null)?.cmd === "string" &&
        (message as { cmd: string }).cmd.startsWith("NODE_");
      if (!internal) this.#child.emit("message", message, undefined);
    }
    if (this.#heard.length > LONGEST_MESSAGE) this.#end("SIGKILL");
  }
}

function signalName(number: number): NodeJS.Signals {
  const named = Object.entries(process.getBuiltinModule("node:os").constants.signals).find(
    ([, value]) => value === number,
  );
  return (named?.[0] ?? "SIGKILL") as NodeJS.Signals;
}

/** From here on every `ChildProcess` is a program of the parent's. */
export function replaceChildProcesses(connection: Connection, folders: Folders): void {
  let pid = FIRST_PID;
  const prototype = ChildProcess.prototype as unknown as { spawn(options: AsyncOptions): number };
  prototype.spawn = function (options) {
    return new Program(this as unknown as Internals, connection, folders, ++pid).spawn(options);
  };
  const kill = process.kill.bind(process);
  process.kill = (target, signal) => {
    if (Math.abs(target) <= FIRST_PID) return kill(target, signal);
    if (
      signal === 0
        ? !running.has(Math.abs(target))
        : !killProgram(
            Math.abs(target),
            typeof signal === "number" ? signalName(signal) : ((signal as NodeJS.Signals | undefined) ?? "SIGTERM"),
          )
    ) {
      throw Object.assign(new Error("kill ESRCH"), { errno: errnoOf("ESRCH"), code: "ESRCH", syscall: "kill" });
    }
    return true;
  };
}
