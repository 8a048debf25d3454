/** What the entries of `stdio` mean for a program that runs elsewhere. */
import { writeSync } from "node:fs";
import { Readable } from "node:stream";

export type StdioEntry =
  | "pipe"
  | "overlapped"
  | "ignore"
  | "inherit"
  | "ipc"
  | null
  | undefined
  | number
  | { fd?: number | null };

export function stdioOf(stdio: StdioEntry[] | string | undefined): StdioEntry[] {
  const list: StdioEntry[] = Array.isArray(stdio)
    ? stdio
    : Array.from({ length: 3 }, () => (stdio ?? "pipe") as StdioEntry);
  return [list[0] ?? "pipe", list[1] ?? "pipe", list[2] ?? "pipe", ...list.slice(3)];
}

/** The descriptor that an entry of `stdio` stands for. */
export function descriptor(entry: StdioEntry, own: number): number | undefined {
  if (entry === "inherit") return own;
  if (typeof entry === "number") return entry;
  return typeof entry === "object" && entry !== null ? (entry.fd ?? undefined) : undefined;
}

/** As sockets have: nothing that is waited for keeps a tester alive. */
export const withRef = <S extends object>(stream: S): S =>
  Object.assign(stream, { ref: () => stream, unref: () => stream });

function output(): Readable {
  return withRef(new Readable({ read: () => undefined }));
}

/** Where output goes: to a stream, to a descriptor of ours, or nowhere. */
export function sink(entry: StdioEntry, own: number): { stream: Readable | null; write(data: Buffer): void } {
  if (entry === "pipe" || entry === "overlapped") {
    const stream = output();
    return { stream, write: (data) => void stream.push(data.length === 0 ? null : data) };
  }
  const fd = descriptor(entry, own);
  const write = (data: Buffer): void => {
    try {
      if (fd === 1 || fd === 2) (fd === 1 ? process.stdout : process.stderr).write(data);
      else if (fd !== undefined && data.length > 0) writeSync(fd, data);
    } catch {
      // A file that cannot be written to is the program's loss, as it would be without us.
    }
  };
  return { stream: null, write };
}
