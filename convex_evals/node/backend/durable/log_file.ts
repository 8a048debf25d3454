/**
 * A file of records. Each is a header, JSON in UTF-8, and the header once more; a header has, in four bytes each, the length
 * and the CRC-32 of the JSON, the place of the record in the file, and the CRC-32 of these twelve bytes. So a header is known
 * for one wherever it stands, and what an interrupted write leaves is told from damage: no other record can be found behind.
 */

import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { crc32 } from "node:zlib";
import { StorageError, type JournalRecord } from "./journal.ts";

const HEADER = 16;
const LENGTH_AT = 0;
const CHECKSUM_AT = 4;
const PLACE_AT = 8;
const OWN_CHECKSUM_AT = 12;
// Any four characters of JSON are more, as a number: no text has to be tried for a header.
const LONGEST = 0x20_00_00_00;
// Node reads no more at once.
const LARGEST_FILE = 2 ** 31 - 1;
const TORN = ".torn-at-";

/** A record and the text that it was read from. */
export type ReadRecord = readonly [JournalRecord, string];

/** What a file holds, up to the end of its last whole record. */
export interface ReadFile {
  readonly first: JournalRecord;
  readonly last: JournalRecord;
  /** Bytes. */
  readonly size: number;
  /** What is behind: a record that was never written whole. */
  readonly torn: Buffer;
}

/** A record as it is written at a place of a file. Throws for one that could not be read again. */
export function framed(record: JournalRecord, place: number): Buffer {
  const body = Buffer.from(JSON.stringify(record), "utf8");
  if (body.length >= LONGEST || place + body.length + 2 * HEADER > LARGEST_FILE) {
    throw new Error("the file would be too large to be read again");
  }
  const header = Buffer.allocUnsafe(HEADER);
  header.writeUInt32LE(body.length, LENGTH_AT);
  header.writeUInt32LE(crc32(body), CHECKSUM_AT);
  header.writeUInt32LE(place, PLACE_AT);
  header.writeUInt32LE(crc32(header.subarray(0, OWN_CHECKSUM_AT)), OWN_CHECKSUM_AT);
  return Buffer.concat([header, body, header]);
}

/**
 * Gives every whole record of a file to `take`. Throws `StorageError` for a file that is damaged before its end, and for one
 * without any record: it has its name once the first one is written.
 */
export function readRecords(file: string, take: (record: ReadRecord) => void): ReadFile {
  const content = contentOf(file);
  let first: JournalRecord | null = null;
  let last: JournalRecord | null = null;
  let size = 0;
  for (let body = bodyAt(content, size); body !== null; body = bodyAt(content, size)) {
    const text = body.toString("utf8");
    const record = JSON.parse(text) as JournalRecord;
    take([record, text]);
    first ??= record;
    last = record;
    size += body.length + 2 * HEADER;
  }
  if (!first || !last || !isTorn(content, size)) throw damaged(file, size);
  return { first, last, size, torn: content.subarray(size) };
}

/** The same for a file that was finished: one that is cut short is damaged, too. */
export function readWhole(file: string, take: (record: ReadRecord) => void): ReadFile {
  const read = readRecords(file, take);
  if (read.torn.length > 0) throw damaged(file, read.size);
  return read;
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new StorageError(`${file}: is missing; restore the folder from a copy`);
  }
}

export function damaged(file: string, at: number): StorageError {
  return new StorageError(`${file}: damaged at byte ${at}; restore the folder from a copy`);
}

interface Header {
  readonly length: number;
  readonly checksum: number;
  readonly place: number;
}

/** The header that stands at `at`, or null where none does. */
function headerAt(content: Buffer, at: number): Header | null {
  if (at + HEADER > content.length) return null;
  const length = content.readUInt32LE(at + LENGTH_AT);
  if (length === 0 || length >= LONGEST) return null;
  const checksum = content.readUInt32LE(at + OWN_CHECKSUM_AT);
  if (crc32(content.subarray(at, at + OWN_CHECKSUM_AT)) !== checksum) return null;
  return { length, checksum: content.readUInt32LE(at + CHECKSUM_AT), place: content.readUInt32LE(at + PLACE_AT) };
}

/** The record that begins at `at`, or null where none does. */
function bodyAt(content: Buffer, at: number): Buffer | null {
  const header = headerAt(content, at);
  if (header?.place !== at) return null;
  const end = at + HEADER + header.length;
  const body = content.subarray(at + HEADER, end);
  const again = content.subarray(end, end + HEADER);
  return crc32(body) === header.checksum && again.equals(content.subarray(at, at + HEADER)) ? body : null;
}

/** Whether all from `at` on can be left of one record, but for zeros: a file system may make a file longer. */
function isTorn(content: Buffer, at: number): boolean {
  let end = content.length;
  for (let next = at; next + HEADER <= content.length; next++) {
    const header = headerAt(content, next);
    if (header === null) continue;
    if (header.place !== at) return false;
    end = at + HEADER + header.length + HEADER;
  }
  return content.subarray(end).every((byte) => byte === 0);
}

/** Whether a file is one that `keepTorn` wrote. */
export function isTornCopy(name: string): boolean {
  return name.includes(TORN);
}

/** Puts a copy of what follows the first `size` bytes of a file beside it, under a new name, which is returned. */
export function keepTorn(file: string, { size, torn }: ReadFile): string {
  for (let n = 1; ; n++) {
    const copy = `${file}${TORN}${size}${n === 1 ? "" : `.${n}`}`;
    try {
      writeFileSync(copy, torn, { mode: 0o600, flag: "wx", flush: true });
      return copy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
      rmSync(copy, { force: true });
      throw new StorageError(`${copy}: cannot be written (${reason(error)}); nothing was cut off`);
    }
  }
}

/** A file that grows at its end. */
export class LogFile {
  readonly #fd: number;
  #path: string;
  #size: number;
  #broken: string | null = null;

  /** Opens a file, or makes it; what is behind `size` bytes is cut off. */
  constructor(path: string, size: number) {
    this.#path = path;
    this.#fd = openSync(path, "a", 0o600);
    ftruncateSync(this.#fd, size);
    this.#size = size;
  }

  /** Begins a log behind one of `follows` bytes. It has its name once that is on the disk. */
  static begin(path: string, follows: number): LogFile {
    const log = new LogFile(`${path}.unfinished`, 0);
    try {
      log.append({ kind: "begin", follows });
      log.sync();
      renameSync(log.#path, path);
    } catch (error) {
      log.close();
      throw error;
    }
    log.#path = path;
    return log;
  }

  get path(): string {
    return this.#path;
  }

  /** Bytes. */
  get size(): number {
    return this.#size;
  }

  /** Writes a record whole, or throws `StorageError` and leaves the file as it was. */
  append(record: JournalRecord): void {
    if (this.#broken !== null) throw new StorageError(this.#broken);
    try {
      const frame = framed(record, this.#size);
      for (let done = 0; done < frame.length; ) done += writeSync(this.#fd, frame, done);
      this.#size += frame.length;
    } catch (error) {
      this.#takeBack();
      throw new StorageError(`${this.#path}: cannot be written (${reason(error)}); nothing was changed`);
    }
  }

  /** Returns once all is on the disk. Throws the system's error, after which it is unknown what the disk has. */
  sync(): void {
    fdatasyncSync(this.#fd);
  }

  close(): void {
    // The descriptor may soon be another file's.
    this.#broken = `${this.#path}: is closed`;
    closeSync(this.#fd);
  }

  #takeBack(): void {
    try {
      ftruncateSync(this.#fd, this.#size);
    } catch (error) {
      this.#broken = `${this.#path}: half a record cannot be taken back (${reason(error)}); start again`;
    }
  }
}

/** `no space left on device` of the system's error. */
export function reason(error: unknown): string {
  const { message } = error as Error;
  return /^[A-Z0-9]+: (.*?)(?:, [a-z]+(?: '.*')?)?$/.exec(message)?.[1] ?? message;
}
