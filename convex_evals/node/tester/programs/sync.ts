/** `spawnSync` and its like, over a connection of their own that they wait on. */
import { readFileSync, readSync, writeSync } from "node:fs";
import { unpack } from "./archive.ts";
import { Decoder, encode, encodeAll, KINDS, type Exit, type Frame } from "./frames.ts";
import { FIRST_PID } from "./child.ts";
import { errnoOf, requestOf, type Folders, type SpawnOptions } from "./request.ts";

interface SyncStdio {
  type: "pipe" | "overlapped" | "ignore" | "inherit" | "fd" | "wrap";
  fd?: number;
  input?: ArrayBufferView | null;
}

export interface SyncOptions extends SpawnOptions {
  stdio: SyncStdio[];
  timeout?: number;
  maxBuffer?: number;
  killSignal?: number;
}

/** As Node's own binding has it: `error` is a negative number of the system's. */
export interface SyncResult {
  pid: number;
  status: number | null;
  signal: string | null;
  output: (Buffer | null)[] | null;
  error?: number;
}

const bytesOf = (view: ArrayBufferView): Buffer => Buffer.from(view.buffer, view.byteOffset, view.byteLength);

function inputOf(entry: SyncStdio | undefined): Buffer {
  if (entry?.type === "fd" && entry.fd !== undefined) return readFileSync(entry.fd);
  return entry?.input ? bytesOf(entry.input) : Buffer.alloc(0);
}

class Wire {
  readonly #fd: number;
  readonly #decoder = new Decoder();
  readonly #frames: Frame[] = [];
  readonly #buffer = Buffer.alloc(65536);

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(bytes: Buffer): void {
    for (let sent = 0; sent < bytes.length; ) sent += writeSync(this.#fd, bytes, sent);
  }

  read(): Frame {
    while (this.#frames.length === 0) {
      const length = readSync(this.#fd, this.#buffer);
      if (length === 0) throw new Error("The connection to what starts programs was lost");
      this.#frames.push(...this.#decoder.feed(Buffer.from(this.#buffer.subarray(0, length))));
    }
    return this.#frames.shift()!;
  }
}

/** What a program printed, as far as it is wanted. */
class Outputs {
  readonly #kept = new Map<number, { pieces: Buffer[]; size: number }>();
  readonly #stdio: SyncStdio[];
  readonly #most: number;
  full = false;

  constructor(stdio: SyncStdio[], most: number) {
    this.#stdio = stdio;
    this.#most = most;
  }

  add(number: 1 | 2, data: Buffer): void {
    const entry = this.#stdio[number];
    const fd = entry?.type === "inherit" ? number : entry?.type === "fd" ? entry.fd : undefined;
    if (fd === 1 || fd === 2) (fd === 1 ? process.stdout : process.stderr).write(data);
    else if (fd !== undefined) writeSync(fd, data);
    if (entry?.type !== "pipe" && entry?.type !== "overlapped") return;
    const kept = this.#kept.get(number) ?? { pieces: [], size: 0 };
    this.#kept.set(number, kept);
    const fitting = data.subarray(0, Math.max(0, this.#most - kept.size));
    kept.pieces.push(Buffer.from(fitting));
    kept.size += fitting.length;
    this.full ||= fitting.length < data.length;
  }

  of(number: 1 | 2): Buffer | null {
    const type = this.#stdio[number]?.type;
    return type === "pipe" || type === "overlapped" ? Buffer.concat(this.#kept.get(number)?.pieces ?? []) : null;
  }
}

/** What stands in for the function of Node's own binding. */
export function syncSpawn(fd: number, folders: Folders): (options: SyncOptions) => SyncResult {
  const wire = new Wire(fd);
  let id = 0;
  return (options) => {
    const stdio = options.stdio;
    const timeout = options.timeout !== undefined && options.timeout > 0 ? options.timeout : null;
    const request = requestOf(options, { stdin: true, ipc: false, timeout }, folders);
    if (typeof request === "string") {
      return { pid: 0, status: null, signal: null, output: null, error: errnoOf(request) };
    }
    id += 1;
    wire.write(encode(KINDS.start, id, JSON.stringify(request.start)));
    for (const frame of encodeAll(KINDS.files, id, request.files)) wire.write(frame);
    const input = inputOf(stdio[0]);
    for (const frame of encodeAll(KINDS.stdin, id, input)) wire.write(frame);
    const outputs = new Outputs(stdio, options.maxBuffer ?? Infinity);
    const { exit, files } = gather(wire, id, outputs);
    if (files.length > 0) unpack(files, folders.base, [folders.project, folders.scratch], folders.hidden);
    if (exit.error !== null) throw new Error(`${options.file}: ${exit.error}`);
    const result: SyncResult = {
      pid: FIRST_PID,
      status: exit.code,
      signal: exit.signal,
      output: [null, outputs.of(1), outputs.of(2)],
    };
    if (exit.timedOut) return { ...result, status: null, signal: "SIGTERM", error: errnoOf("ETIMEDOUT") };
    return outputs.full ? { ...result, status: null, signal: "SIGTERM", error: errnoOf("ENOBUFS") } : result;
  };
}

function gather(wire: Wire, id: number, outputs: Outputs): { exit: Exit; files: Buffer } {
  const files: Buffer[] = [];
  let ended = false;
  for (;;) {
    const { kind, id: of, payload } = wire.read();
    if (of !== id) continue;
    if (kind === KINDS.stdout) outputs.add(1, payload);
    else if (kind === KINDS.stderr) outputs.add(2, payload);
    else if (kind === KINDS.files) files.push(payload);
    else if (kind === KINDS.exit) return { exit: JSON.parse(payload.toString()) as Exit, files: Buffer.concat(files) };
    if (outputs.full && !ended) {
      ended = true;
      wire.write(encode(KINDS.kill, id));
    }
  }
}
