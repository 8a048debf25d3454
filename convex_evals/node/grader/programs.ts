/**
 * Programs of the candidate's. In the tester each runs as the project's code does: in a containment of its own, with a copy of what
 * it is shown, without the suite, and without a way to the tester or the answer. What it prints and its exit code are all that
 * comes back.
 */
import { spawn, type SpawnOptions } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { closeAfterRun } from "./closing.ts";
import { projectDir } from "./connection.ts";
import { REACHED, SEEN, type Reached, type Seen } from "./seen.ts";

export interface ProgramOptions {
  /** Where it starts, and all that it sees: the project's folder, or one that `copyProject` made. */
  folder?: string;
  env?: Record<string, string>;
  /** All that it may connect to besides itself: `candidateUrl()`, the address of a line; nothing unless given. */
  reach?: readonly string[];
  input?: string;
  timeoutMs?: number;
  /** Of its output and of its errors; what it prints beyond that is dropped. */
  maxBytes?: number;
}

/** How a program ended. `code` is null where a signal or the time limit ended it. */
export interface ProgramResult {
  code: number | null;
  timedOut: boolean;
  stdout: string;
  stderr: string;
}

/** A new folder with a name that says nothing, which is removed after the last test. */
function newFolder(): string {
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), "p"))), randomBytes(6).toString("hex"));
  mkdirSync(folder);
  closeAfterRun(() => rmSync(dirname(folder), { recursive: true, force: true }));
  return folder;
}

function writeInto(folder: string, files: Readonly<Record<string, string | null>>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    if (text === null) rmSync(file, { recursive: true, force: true });
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
}

function linkPackages(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name.startsWith("@")) linkPackages(join(from, name), join(to, name));
    else if (name === ".bin") cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else if (!name.startsWith(".")) symlinkSync(realpathSync(join(from, name)), join(to, name));
  }
}

/** A copy of the project with other files: by their paths, null for one that is to be missing. Returns the folder. */
export function copyProject(changes: Readonly<Record<string, string | null>> = {}): string {
  const folder = newFolder();
  const project = projectDir();
  for (const name of readdirSync(project)) {
    if (name !== "node_modules" && name !== ".git") {
      cpSync(join(project, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
    }
  }
  linkPackages(join(project, "node_modules"), join(folder, "node_modules"));
  writeInto(folder, changes);
  return folder;
}

/** Collects at most `most` bytes. */
class Kept {
  readonly #pieces: Buffer[] = [];
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  add(chunk: Buffer): void {
    const fitting = chunk.subarray(0, this.#left);
    this.#left -= fitting.length;
    if (fitting.length > 0) this.#pieces.push(fitting);
  }

  text(): string {
    return Buffer.concat(this.#pieces).toString("utf8");
  }
}

/** What any shell has: nothing of what runs the grader. */
function plainEnvironment(): Record<string, string> {
  const names = ["PATH", "HOME", "TMPDIR", "LANG", "TZ"];
  const found = names.map((name) => [name, process.env[name]] as const).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(found) as Record<string, string>), CI: "1", NO_COLOR: "1" };
}

/** For the options of `fork` and its like, `{ ...reaching(line.url) }`: all that the program may connect to besides itself. */
export function reaching(...addresses: string[]): Reached {
  return { [REACHED]: addresses };
}

/** Runs a program to its end. It never fails for what the program does. */
export function runProgram(
  command: readonly [string, ...string[]],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const { folder = projectDir(), env = {}, reach = [], input = "", timeoutMs = 30_000, maxBytes = 1_000_000 } = options;
  const [file, ...args] = command;
  const started: SpawnOptions & Seen & Reached = {
    cwd: folder,
    env: { ...plainEnvironment(), ...env },
    stdio: ["pipe", "pipe", "pipe"],
    [SEEN]: [realpathSync(folder)],
    ...reaching(...reach),
  };
  const child = spawn(file, args, started);
  const [stdout, stderr] = [new Kept(maxBytes), new Kept(maxBytes)];
  child.stdout?.on("data", (chunk: Buffer) => stdout.add(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.add(chunk));
  child.stdin?.on("error", () => undefined).end(input);
  closeAfterRun(() => child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code: timedOut ? null : code, timedOut, stdout: stdout.text(), stderr: stderr.text() });
    });
  });
}

/**
 * Bundles a program for Node.js that imports modules of the project, as `./src/x.ts`, and returns its file: for `fork` of
 * `node:child_process`, which runs it contained. Fails with `what` must be a module that can be bundled.
 */
export async function bundleProgram(source: string, what: string): Promise<string> {
  const bundler = fileURLToPath(new URL("./bundle_program.ts", import.meta.url));
  const { code, stdout, stderr } = await runProgram([process.execPath, "--disable-sigusr1", bundler, projectDir()], {
    input: source,
    maxBytes: 16_000_000,
  });
  if (code !== 0) {
    throw new Error(`${what} must be a module that can be bundled for Node.js: ${stderr.trim().slice(0, 3000)}`);
  }
  const file = join(newFolder(), `${basename(what).replace(/\W/g, "") || "program"}.mjs`);
  writeFileSync(file, stdout);
  return file;
}
