/**
 * A file of records: four bytes of length, four of CRC-32, then JSON in UTF-8. A record that is cut short is the end of the
 * file: the process was ended while it wrote.
 */

import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { StorageError, type JournalRecord } from "./journal.ts";

const HEADER = 8;
const LENGTH_AT = 0;
const CHECKSUM_AT = 4;

/** A record and the text that it was read from. */
export type ReadRecord = readonly [JournalRecord, string];

export function framed(record: JournalRecord): Buffer {
  const body = Buffer.from(JSON.stringify(record), "utf8");
  const frame = Buffer.allocUnsafe(HEADER + body.length);
  frame.writeUInt32LE(body.length, LENGTH_AT);
  frame.writeUInt32LE(crc32(body), CHECKSUM_AT);
  body.copy(frame, HEADER);
  return frame;
}

/**
 * Gives every whole record of a file to `take`; returns the length up to the end of the last one, in bytes.
 * Throws `StorageError` for a file that is damaged in the middle: what follows would be lost unseen.
 */
export function readRecords(file: string, take: (record: ReadRecord) => void): number {
  const content = readFileSync(file);
  let at = 0;
  for (let body = bodyAt(content, at); body !== null; body = bodyAt(content, at)) {
    const text = body.toString("utf8");
    take([JSON.parse(text) as JournalRecord, text]);
    at += HEADER + body.length;
  }
  if (at < content.length && followedByRecord(content, at)) {
    throw damaged(file, at);
  }
  return at;
}

/** The same for a file that was finished: one that is cut short is damaged, too. */
export function readWhole(file: string, take: (record: ReadRecord) => void): number {
  const length = readRecords(file, take);
  if (length < statSync(file).size) throw damaged(file, length);
  return length;
}

function damaged(file: string, at: number): StorageError {
  return new StorageError(`${file}: damaged at byte ${at}; restore the folder from a copy`);
}

/** The record that begins at `at`, or null where none does. */
function bodyAt(content: Buffer, at: number): Buffer | null {
  if (at + HEADER > content.length) return null;
  const length = content.readUInt32LE(at + LENGTH_AT);
  const body = content.subarray(at + HEADER, at + HEADER + length);
  if (length === 0 || body.length < length || crc32(body) !== content.readUInt32LE(at + CHECKSUM_AT)) return null;
  return body;
}

// A write that was cut short is the last one.
function followedByRecord(content: Buffer, at: number): boolean {
  if (at + HEADER > content.length) return false;
  return bodyAt(content, at + HEADER + content.readUInt32LE(at + LENGTH_AT)) !== null;
}

/** A file that grows at its end. */
export class LogFile {
  readonly path: string;
  readonly #fd: number;
  #size: number;
  #broken: string | null = null;

  /** Opens a file, or makes it; what is behind `size` bytes is cut off. */
  constructor(path: string, size = 0) {
    this.path = path;
    this.#fd = openSync(path, "a", 0o600);
    ftruncateSync(this.#fd, size);
    this.#size = size;
  }

  /** Bytes. */
  get size(): number {
    return this.#size;
  }

  /** Writes a record whole, or throws `StorageError` and leaves the file as it was. */
  append(record: JournalRecord): void {
    if (this.#broken !== null) throw new StorageError(this.#broken);
    const frame = framed(record);
    try {
      for (let done = 0; done < frame.length; ) done += writeSync(this.#fd, frame, done);
      this.#size += frame.length;
    } catch (error) {
      this.#takeBack();
      throw new StorageError(`${this.path}: cannot be written (${reason(error)}); nothing was changed`);
    }
  }

  /** Returns once all is on the disk. Throws the system's error, after which it is unknown what the disk has. */
  sync(): void {
    fdatasyncSync(this.#fd);
  }

  close(): void {
    // The descriptor may soon be another file's.
    this.#broken = `${this.path}: is closed`;
    closeSync(this.#fd);
  }

  #takeBack(): void {
    try {
      ftruncateSync(this.#fd, this.#size);
    } catch (error) {
      this.#broken = `${this.path}: half a record cannot be taken back (${reason(error)}); start again`;
    }
  }
}

/** `no space left on device` of the system's error. */
export function reason(error: unknown): string {
  const { message } = error as Error;
  return /^[A-Z0-9]+: (.*?)(?:, [a-z]+(?: '.*')?)?$/.exec(message)?.[1] ?? message;
}
