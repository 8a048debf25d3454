/** A headless Chromium, driven over the DevTools protocol: https://chromedevtools.github.io/devtools-protocol/ */

import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { WebSocket } from "ws";
import { eventually } from "../../test/harness.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
// The profile is new and the network is closed: nothing may wait for an answer from outside.
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--remote-debugging-port=0",
];
const START_MS = 20_000;

/** The path of an installed Chromium, or null. */
export function findChromium(): string | null {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).concat("/usr/bin");
  return folders.flatMap((folder) => NAMES.map((name) => path.join(folder, name))).find(existsSync) ?? null;
}

export class Chromium {
  readonly #origin: string;

  private constructor(origin: string) {
    this.#origin = origin;
  }

  /** Starts a browser that ends with the test. */
  static async start(t: TestContext, executable: string): Promise<Chromium> {
    const profile = mkdtempSync(path.join(tmpdir(), "chromium-test-"));
    const child = spawn(executable, [...FLAGS, `--user-data-dir=${profile}`, "about:blank"], {
      stdio: "ignore",
      detached: true,
    });
    t.after(async () => {
      await stop(child);
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    });
    const portFile = path.join(profile, "DevToolsActivePort");
    const port = await eventually(
      () => existsSync(portFile) && /^(\d+)\n/.exec(readFileSync(portFile, "utf8"))?.[1],
      START_MS,
    );
    return new Chromium(`http://127.0.0.1:${port}`);
  }

  /** Opens a page in a tab of its own. */
  async open(url: string): Promise<BrowserPage> {
    const answer = await fetch(`${this.#origin}/json/new?${encodeURIComponent(url)}`, { method: "PUT" });
    const { webSocketDebuggerUrl } = (await answer.json()) as { webSocketDebuggerUrl: string };
    const socket = new WebSocket(webSocketDebuggerUrl);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return new BrowserPage(socket);
  }
}

// The browser is many processes: the group is killed, the first one is waited for.
async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid, "SIGKILL");
  await exited;
}

interface Reply {
  readonly id?: number;
  readonly result?: {
    readonly result?: { readonly value?: unknown };
    readonly exceptionDetails?: { readonly exception?: { readonly description?: string } };
  };
  readonly error?: { readonly message: string };
}

export class BrowserPage {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #last = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const reply = JSON.parse(String(data)) as Reply;
      if (reply.id !== undefined) this.#waiting.get(reply.id)?.(reply);
    });
  }

  /** The value of a JavaScript expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, error } = await this.#send("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    const problem = error?.message ?? result?.exceptionDetails?.exception?.description;
    if (problem !== undefined) throw new Error(problem);
    return result?.result?.value;
  }

  /** The text of the only element that matches, or null before it is there. */
  async text(selector: string): Promise<string | null> {
    return (await this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? null`)) as
      | string
      | null;
  }

  /** Types into a field as a keyboard does. */
  async type(selector: string, text: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`);
    await this.#send("Input.insertText", { text });
  }

  async pressEnter(): Promise<void> {
    const key = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" };
    await this.#send("Input.dispatchKeyEvent", { type: "keyDown", ...key });
    await this.#send("Input.dispatchKeyEvent", { type: "keyUp", ...key });
  }

  close(): void {
    this.#socket.terminate();
  }

  async #send(method: string, params: object): Promise<Reply> {
    const id = ++this.#last;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return await new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}
