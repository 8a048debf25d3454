/**
 * The candidate's React app in a browser-like page, talking to the candidate's backend.
 *
 * The app runs in a process of its own, with nothing but the page: a grader sees only what a person at the screen
 * would see, and the app cannot reach the grader.
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ENDING } from "../code_cache.ts";
import { closeAfterRun } from "./closing.ts";
import { candidateUrl, projectDir } from "./connection.ts";
import type { PageCommand, PageReply, PageRequest } from "./page_protocol.ts";

export interface PageOptions {
  /** The module whose default export is the app's component. */
  app?: string;
  /** Another backend than the candidate's: with `UNREACHABLE` the app stays as it is before its first data. */
  backend?: string;
}

/** An address at which nobody answers. */
export const UNREACHABLE = "http://localhost:1";

/** A page that is open. Elements are named by CSS selectors, and must exist when they are used: wait with `eventually`. */
export class Page {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(value: string[]): void; reject(error: Error): void }>();
  #ended: string | undefined;
  #next = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (reply: PageReply) => this.#receive(reply));
    child.on("exit", (code) => this.#end(`The page's process ended (code ${code})`));
  }

  /** Runs the app's script; what it throws is in `errors`. */
  async start(script: string): Promise<void> {
    await this.#ask({ kind: "start", script });
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

  /** Replaces the value of the only field that matches, as typing does. */
  async fill(selector: string, value: string): Promise<void> {
    await this.#ask({ kind: "fill", selector, value });
  }

  /** Clicks the only element that matches; a submit button submits its form. */
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
    const request: PageRequest = { id: this.#next, command };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#child.send(request);
    });
  }

  #receive(reply: PageReply): void {
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
export async function openPage({ app = "src/App.tsx", backend = candidateUrl() }: PageOptions = {}): Promise<Page> {
  const child = fork(fileURLToPath(new URL(`./page_process${ENDING}`, import.meta.url)), {
    env: {},
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const page = new Page(child);
  closeAfterRun(() => page.close());
  await page.start(await bundlePage(app, backend));
  return page;
}

/** The page's script. */
export async function bundlePage(app: string, backend: string): Promise<string> {
  const { build } = await import("esbuild");
  const contents = `
    import { createElement } from "react";
    import { createRoot } from "react-dom/client";
    import { ConvexProvider, ConvexReactClient } from "convex/react";
    import * as app from ${JSON.stringify(`./${app}`)};
    if (typeof app.default !== "function") throw new Error(${JSON.stringify(`\`${app}\` must export the app's component as its default`)});
    const client = new ConvexReactClient(${JSON.stringify(backend)}, { skipConvexDeploymentUrlCheck: true });
    createRoot(document.getElementById("root")).render(createElement(ConvexProvider, { client }, createElement(app.default)));
  `;
  const result = await build({
    stdin: { contents, resolveDir: projectDir(), loader: "tsx", sourcefile: "page.tsx" },
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"development"' },
    loader: { ".css": "empty", ".svg": "empty", ".png": "empty" },
    logLevel: "silent",
    // The project's own compiler options are judged by the type check, and must not change what runs here.
    tsconfigRaw: {},
  }).catch((error: unknown) => {
    throw new Error(`\`${app}\` must be a module that can be bundled for the browser: ${error instanceof Error ? error.message : String(error)}`);
  });
  return result.outputFiles[0]?.text ?? "";
}
