/**
 * Folders as tar archives: what a program gets to see, and what it wrote.
 *
 * An archive that comes back was made beside project code: nothing in it is followed, and nothing is written through links.
 */
import {
  constants,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  writeSync,
} from "node:fs";
import path from "node:path";

const BLOCK = 512;
/** Of all files that a program is given or leaves, in bytes; the parent relays no more than that. */
export const LARGEST_ARCHIVE = 64 * 1024 * 1024;
const MOST_ENTRIES = 50_000;
const NAME_BYTES = 100;
const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

type Kind = "0" | "2" | "5" | "K" | "L";

function header(name: string, kind: Kind, size: number, mode: number, link = ""): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, "0")}\0`;
  Buffer.from(name).copy(block, 0, 0, NAME_BYTES);
  block.write(
    octal(mode, 8) + octal(0, 8) + octal(0, 8) + octal(size, 12) + octal(0, 12) + " ".repeat(8) + kind,
    100,
    "latin1",
  );
  Buffer.from(link).copy(block, 157, 0, NAME_BYTES);
  block.write("ustar  \0", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

function padded(content: Buffer): Buffer[] {
  const rest = content.length % BLOCK;
  return rest === 0 ? [content] : [content, Buffer.alloc(BLOCK - rest)];
}

/** One entry; what does not fit its header goes before it. */
function entry(name: string, kind: Kind, content: Buffer, mode: number, link = ""): Buffer[] {
  const long = (text: string, what: Kind): Buffer[] => {
    const bytes = Buffer.from(`${text}\0`);
    return bytes.length <= NAME_BYTES ? [] : [header("././@LongLink", what, bytes.length, 0), ...padded(bytes)];
  };
  return [...long(name, "L"), ...long(link, "K"), header(name, kind, content.length, mode, link), ...padded(content)];
}

/** The files below `roots`, by their paths below `base`; `hidden` and what lies below is left out. Links stay links. */
export function pack(base: string, roots: readonly string[], hidden: ReadonlySet<string>): Buffer {
  const parts: Buffer[] = [];
  let [size, entries] = [0, 0];
  const add = (pieces: Buffer[]): void => {
    parts.push(...pieces);
    size += pieces.reduce((total, piece) => total + piece.length, 0);
    entries += 1;
    if (size > LARGEST_ARCHIVE || entries > MOST_ENTRIES) {
      throw new Error("There are too many files for a program in the project's folder and the grader's");
    }
  };
  const walk = (file: string): void => {
    if (hidden.has(file)) return;
    const name = path.relative(base, file);
    const found = lstatSync(file);
    if (found.isSymbolicLink()) add(entry(name, "2", Buffer.alloc(0), 0o777, readlinkSync(file)));
    else if (found.isFile()) add(entry(name, "0", readFileSync(file), found.mode & 0o777));
    else if (found.isDirectory()) {
      if (path.dirname(name) !== ".") add(entry(`${name}/`, "5", Buffer.alloc(0), 0o755));
      for (const each of readdirSync(file)) walk(path.join(file, each));
    }
  };
  // The folders above are there already; those between them and a root are not.
  for (const root of roots) {
    const above = path.relative(base, root).split(path.sep).slice(0, -1);
    above
      .slice(1)
      .forEach((_, index) => add(entry(`${above.slice(0, index + 2).join("/")}/`, "5", Buffer.alloc(0), 0o755)));
    walk(root);
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

interface Unpacked {
  name: string;
  folder: boolean;
  content: Buffer;
  mode: number;
}

const textOf = (block: Buffer, from: number, length: number): string =>
  block.toString("utf8", from, from + length).replace(/\0[^]*$/, "");

/** Files and folders of an archive that is whole as far as it goes. */
function* entriesOf(archive: Buffer): Generator<Unpacked> {
  let longName: string | undefined;
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const head = archive.subarray(at, at + BLOCK);
    const size = parseInt(textOf(head, 124, 12), 8) || 0;
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (head[0] === 0 || content.length < size) return;
    const kind = String.fromCharCode(head[156]!);
    if (kind === "L") longName = content.toString("utf8").replace(/\0[^]*$/, "");
    else {
      const prefix = textOf(head, 257, 8) === "ustar" ? textOf(head, 345, 155) : "";
      const name = longName ?? (prefix === "" ? textOf(head, 0, 100) : `${prefix}/${textOf(head, 0, 100)}`);
      longName = undefined;
      if (kind === "0" || kind === "\0" || kind === "5") {
        yield { name, folder: kind === "5", content, mode: parseInt(textOf(head, 100, 8), 8) || 0 };
      }
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** Whether `folder` is there, or was made, and neither it nor a folder above it (below `base`) is a link. */
function isPlain(base: string, folder: string): boolean {
  if (folder === base) return true;
  if (!isPlain(base, path.dirname(folder))) return false;
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) mkdirSync(folder);
  return found === undefined || found.isDirectory();
}

function replace(file: string, { content, mode }: Unpacked): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) return;
  if (found?.size === content.length && readFileSync(file).equals(content)) return;
  const fd = openSync(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644 | (mode & 0o111));
  try {
    for (let sent = 0; sent < content.length; ) sent += writeSync(fd, content, sent);
  } finally {
    closeSync(fd);
  }
}

/** Writes what differs below `roots`, which are folders of `base`: plain files and folders, and nothing anywhere else. */
export function unpack(archive: Buffer, base: string, roots: readonly string[], hidden: ReadonlySet<string>): void {
  for (const found of entriesOf(archive)) {
    const file = path.join(base, found.name);
    const inside = roots.some((root) => file.startsWith(root + path.sep));
    if (
      !inside ||
      found.name.split("/").includes("..") ||
      [...hidden].some((each) => file === each || file.startsWith(each + path.sep))
    ) {
      continue;
    }
    try {
      if (found.folder) isPlain(base, file.replace(/\/$/, ""));
      else if (isPlain(base, path.dirname(file))) replace(file, found);
    } catch {
      // A name that the system refuses is no file that a grader waits for.
    }
  }
}
