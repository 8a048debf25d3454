/**
 * The candidate's React app in a browser-like page, talking to the candidate's backend.
 *
 * The app runs in a process of its own, with nothing but the page: a grader sees only what a person at the screen
 * would see. What looks like a browser there keeps nobody in: in the tester the process is contained as the project's
 * code is (tester/programs), and bundles the app itself.
 */
import { fork, type ChildProcess, type ForkOptions } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ENDING } from "../code_cache.ts";
import { closeAfterRun } from "./closing.ts";
import { candidateUrl, projectDir, siteUrl } from "./connection.ts";
import { parseReply, type PageCommand, type PageQuestion } from "./page_protocol.ts";
import { reaching } from "./programs.ts";
import { SEEN, type Reached, type Seen } from "./seen.ts";

export interface PageOptions {
  /** The module whose default export is the app's component. */
  app?: string;
  /**
   * Another address than that of the candidate's backend, and all that the page may connect to: that of a line, or
   * `UNREACHABLE`, with which the app stays as it is before its first data.
   */
  backend?: string;
}

/** An address at which nobody answers. */
export const UNREACHABLE = "http://localhost:1";

/** Of a page's process. A warning would be one of the app's errors. */
export const PAGE_FLAGS = ["--disable-sigusr1", "--disable-warning=ExperimentalWarning"] as const;

/**
 * A page that is open. Elements are named by CSS selectors, and must exist when they are used: wait with `eventually`. Elements
 * that a person could not see are none: what a selector matches is what is shown.
 */
export class Page {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(value: string[]): void; reject(error: Error): void }>();
  #ended: string | undefined;
  #next = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (reply: unknown) => this.#receive(reply));
    child.on("error", (error) => this.#end(`The page's process ended (${error.message})`));
    child.on("exit", (code) => this.#end(`The page's process ended (code ${code})`));
  }

  /** Bundles the app and runs it; what it throws is in `errors`. */
  async start(app: string, backend: string): Promise<void> {
    await this.#ask({ kind: "start", app, backend });
  }

  /** The text of each element that matches, in document order, with runs of white space as one space. */
  texts(selector: string): Promise<string[]> {
    return this.#ask({ kind: "texts", selector });
  }

  /** The text of the whole page. */
  async text(): Promise<string> {
    return (await this.texts("body"))[0] ?? "";
  }

  /** The values of the form fields that match. */
  values(selector: string): Promise<string[]> {
    return this.#ask({ kind: "values", selector });
  }

  /** "enabled" or "disabled" for each element that matches. */
  states(selector: string): Promise<string[]> {
    return this.#ask({ kind: "states", selector });
  }

  /** Replaces the value of the only field that matches, as typing does. Fails where the field cannot be edited. */
  async fill(selector: string, value: string): Promise<void> {
    await this.#ask({ kind: "fill", selector, value });
  }

  /** Clicks the only element that matches, whether it is disabled or not; a submit button submits its form. */
  async click(selector: string): Promise<void> {
    await this.#ask({ kind: "click", selector });
  }

  /** What the app threw, or wrote to the console as an error. */
  errors(): Promise<string[]> {
    return this.#ask({ kind: "errors" });
  }

  close(): void {
    this.#child.kill("SIGKILL");
  }

  #ask(command: PageCommand): Promise<string[]> {
    if (this.#ended !== undefined) return Promise.reject(new Error(this.#ended));
    this.#next += 1;
    const request: PageQuestion = { id: this.#next, command };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#child.send(request);
    });
  }

  /** Apps may get out of the page into its process: what comes from there is the app's own word, and may be anything. */
  #receive(said: unknown): void {
    const reply = parseReply(said);
    if (reply === undefined) return;
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.ok) waiting?.resolve(reply.values);
    else waiting?.reject(new Error(reply.message));
  }

  #end(reason: string): void {
    this.#ended = reason;
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }
}

/** Bundles the app with the project's own packages and opens it, inside a `ConvexProvider` of the candidate's backend. */
export async function openPage({ app = "src/App.tsx", backend }: PageOptions = {}): Promise<Page> {
  const reached = backend === undefined ? [candidateUrl(), siteUrl()] : [backend];
  const options: ForkOptions & Seen & Reached = {
    env: { MODEL_OUTPUT_DIR: projectDir() },
    execArgv: [...PAGE_FLAGS],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    [SEEN]: [projectDir()],
    ...reaching(...reached),
  };
  const page = new Page(fork(fileURLToPath(new URL(`./page_process${ENDING}`, import.meta.url)), options));
  closeAfterRun(() => page.close());
  await page.start(app, backend ?? candidateUrl());
  return page;
}
