/** The connection over which the parent is asked to start programs while the tester goes on. */
import { Socket } from "node:net";
import { Decoder, encode, encodeAll, KINDS, type Exit, type Frame, type Kind } from "./frames.ts";
import type { ProgramRequest } from "./request.ts";

/** What becomes of a program that runs. */
export interface Listener {
  stdout(data: Buffer): void;
  stderr(data: Buffer): void;
  ipc(data: Buffer): void;
  exit(exit: Exit, files: Buffer): void;
}

const LOST: Exit = {
  code: null,
  signal: "SIGKILL",
  error: "the connection to what starts programs was lost",
  timedOut: false,
};

export class Connection {
  readonly #socket: Socket;
  readonly #running = new Map<number, { listener: Listener; files: Buffer[] }>();
  #next = 0;

  constructor(fd: number) {
    this.#socket = new Socket({ fd, readable: true, writable: true });
    const decoder = new Decoder();
    this.#socket.on("data", (piece: Buffer) => {
      for (const frame of decoder.feed(piece)) this.#take(frame);
    });
    this.#socket.on("error", () => undefined);
    this.#socket.on("close", () => {
      for (const { listener } of this.#running.values()) listener.exit(LOST, Buffer.alloc(0));
      this.#running.clear();
    });
    this.#socket.unref();
  }

  start({ start, files }: ProgramRequest, listener: Listener): number {
    const id = ++this.#next;
    this.#running.set(id, { listener, files: [] });
    this.send(KINDS.start, id, JSON.stringify(start));
    for (const frame of encodeAll(KINDS.files, id, files)) this.#socket.write(frame);
    return id;
  }

  /** `done` is called when it was handed on. */
  send(kind: Kind, id: number, payload: Uint8Array | string = "", done?: () => void): void {
    this.#socket.write(encode(kind, id, payload), done);
  }

  #take({ kind, id, payload }: Frame): void {
    const program = this.#running.get(id);
    if (program === undefined) return;
    const { listener, files } = program;
    if (kind === KINDS.stdout) listener.stdout(payload);
    else if (kind === KINDS.stderr) listener.stderr(payload);
    else if (kind === KINDS.ipc) listener.ipc(payload);
    else if (kind === KINDS.files) files.push(payload);
    else if (kind === KINDS.exit) {
      this.#running.delete(id);
      listener.exit(JSON.parse(payload.toString()) as Exit, Buffer.concat(files));
    }
  }
}
