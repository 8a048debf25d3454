/**
 * What the tester and the parent process, which starts programs for it, say to each other over a socket: frames of a length
 * (4 bytes), a kind (1), a program's number (4), and a payload. The other side is `convex_evals/grading/programs.py`.
 */

/** Of a payload, in bytes. */
export const LONGEST_PAYLOAD = 1 << 20;
const HEAD = 9;

/** `files` are pieces of a tar archive. An empty payload ends what comes in pieces. */
export const KINDS = { start: 1, files: 2, stdin: 3, kill: 4, ipc: 5, stdout: 6, stderr: 7, exit: 8 } as const;
export type Kind = (typeof KINDS)[keyof typeof KINDS];

export interface Frame {
  kind: Kind;
  id: number;
  payload: Buffer;
}

/** A program, as the parent starts it. */
export interface Start {
  argv: string[];
  cwd: string;
  env: string[];
  stdin: boolean;
  ipc: boolean;
  /** What it wrote comes back when it ends. */
  results: boolean;
  /** Milliseconds; null: as long as the tester runs. */
  timeout: number | null;
  /** The ports that it is to reach; null: all that the project reaches. */
  reached: number[] | null;
}

/** How a program ended; `error` where it could not be started, or was ended for what it used. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  error: string | null;
  timedOut: boolean;
}

export function encode(kind: Kind, id: number, payload: Uint8Array | string = ""): Buffer {
  const body = typeof payload === "string" ? Buffer.from(payload) : payload;
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(body.length, 0);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, body]);
}

/** One frame per piece, and an empty one that ends them. */
export function* encodeAll(kind: Kind, id: number, whole: Uint8Array): Generator<Buffer> {
  for (let at = 0; at < whole.length; at += LONGEST_PAYLOAD) {
    yield encode(kind, id, whole.subarray(at, at + LONGEST_PAYLOAD));
  }
  yield encode(kind, id);
}

/** Puts frames together from the pieces in which they arrive. */
export class Decoder {
  #pieces: Buffer[] = [];
  #length = 0;

  *feed(piece: Buffer): Generator<Frame> {
    this.#pieces.push(piece);
    this.#length += piece.length;
    while (this.#length >= HEAD) {
      const needed = HEAD + this.#joined(HEAD).readUInt32BE(0);
      if (this.#length < needed) return;
      const all = this.#joined(needed);
      this.#pieces = [all.subarray(needed)];
      this.#length = all.length - needed;
      yield { kind: all.readUInt8(4) as Kind, id: all.readUInt32BE(5), payload: all.subarray(HEAD, needed) };
    }
  }

  /** All that arrived, as soon as its first piece is shorter than what is asked for. */
  #joined(size: number): Buffer {
    if (this.#pieces[0]!.length < size) this.#pieces = [Buffer.concat(this.#pieces)];
    const [first, ...more] = this.#pieces;
    return more.length === 0 ? first! : first!.length >= size ? this.#merge() : first!;
  }

  #merge(): Buffer {
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }
}
