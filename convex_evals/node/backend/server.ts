/** The backend as a whole: two HTTP servers around one app. */

import { createServer, type IncomingMessage, type Server } from "node:http";
import { App } from "./app/app.ts";
import type { KeptData } from "./app/kept_app.ts";
import { EVERYTHING, type Door } from "./doors.ts";
import { stopWatchingSoon } from "./realm/watchdog.ts";
import { LoopbackListener } from "./listener.ts";
import { functionLimits, type FunctionTimes } from "./limits.ts";
import { handleApi, type ApiParts } from "./http_api.ts";
import { anyPage, ownPages, type DoorOf } from "./pages.ts";
import { PushApi } from "./push_api.ts";
import { handleSite } from "./site.ts";
import { SyncServer } from "./sync/server.ts";
import { callSystemFunction } from "./system/index.ts";

export interface BackendOptions {
  /** 0 for any free port. */
  readonly port?: number;
  readonly sitePort?: number;
  /** Environment variables that the deployment starts with. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where data are kept beyond the life of the process. */
  readonly data?: KeptData;
  /** Time limits of functions; Convex's unless given. */
  readonly limits?: Partial<FunctionTimes>;
  /** What may be done on the ports; everything, unless given. */
  readonly door?: Door;
  /** Called for every console line of the app's functions. */
  readonly onLog?: (line: string) => void;
}

export interface Backend {
  readonly port: number;
  readonly sitePort: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly siteUrl: string;
  readonly app: App;
  /** Also accepts connections on a socket that another process already listens on. */
  listenOn(fd: number, door: Door): Promise<void>;
  /** The same for HTTP actions. */
  listenForSiteOn(fd: number, door: Door): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a backend, with nothing deployed unless its data say otherwise; resolves when it accepts connections.
 * Throws `StorageError` where data cannot be kept.
 */
export async function startBackend(options: BackendOptions = {}): Promise<Backend> {
  let port = 0;
  let sitePort = 0;
  const cloudUrl = (): string => `http://127.0.0.1:${port}`;
  const siteUrl = (): string => `http://127.0.0.1:${sitePort}`;
  const app = new App(
    { cloudUrl, siteUrl },
    {
      env: options.env ?? {},
      onLog: options.onLog ?? (() => {}),
      limits: functionLimits(options.limits),
      ...(options.data ? { data: options.data } : {}),
      callSystemFunction,
    },
  );
  const parts = { app, push: new PushApi(app), cloudUrl, siteUrl };
  const sync = new SyncServer(app);
  const doorOf = options.data ? ownPages(() => [port, sitePort]) : anyPage;
  const listeners = new Listeners(parts, sync, doorOf);
  const opened = openedWith(app, options);
  port = await listeners.api(options.door ?? EVERYTHING, opened).listen(options.port ?? 0);
  sitePort = await listeners.site(options.door ?? EVERYTHING, opened).listen(options.sitePort ?? 0);
  await app.resume();

  return {
    port,
    sitePort,
    url: cloudUrl(),
    siteUrl: siteUrl(),
    app,
    listenOn: (fd, door) => listeners.api(door).listenOn(fd),
    listenForSiteOn: (fd, door) => listeners.site(door).listenOn(fd),
    close: async () => {
      app.close();
      sync.close();
      stopWatchingSoon();
      await listeners.close();
    },
  };
}

/** Clients of an app that is kept go on after a restart: on ports where nothing is deployed, they wait until something is. */
async function openedWith(app: App, { data, door = EVERYTHING }: BackendOptions): Promise<void> {
  if (data && !door.push) await app.whenDeployed();
}

/** What serves the app, by doors. */
class Listeners {
  readonly #parts: Omit<ApiParts, "door">;
  readonly #sync: SyncServer;
  readonly #doorOf: DoorOf;
  readonly #all: LoopbackListener[] = [];

  constructor(parts: Omit<ApiParts, "door">, sync: SyncServer, doorOf: DoorOf) {
    this.#parts = parts;
    this.#sync = sync;
    this.#doorOf = doorOf;
  }

  /** Requests are answered once `opened` resolves. */
  api(door: Door, opened: Promise<void> = Promise.resolve()): LoopbackListener {
    return this.#add(apiServer(this.#parts, this.#sync, (request) => this.#doorOf(request, door), opened));
  }

  site(door: Door, opened: Promise<void> = Promise.resolve()): LoopbackListener {
    return this.#add(siteServer(this.#parts.app, (request) => this.#doorOf(request, door), opened));
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((each) => each.close()));
  }

  #add(create: () => Server): LoopbackListener {
    const listener = new LoopbackListener(create);
    this.#all.push(listener);
    return listener;
  }
}

function apiServer(
  parts: Omit<ApiParts, "door">,
  sync: SyncServer,
  doorOf: (request: IncomingMessage) => Door,
  opened: Promise<void>,
): () => Server {
  return () =>
    createServer((request, response) => {
      const answered = opened.then(() => handleApi(request, response, { ...parts, door: doorOf(request) }));
      void answered.catch(() => response.destroy());
    }).on("upgrade", (request, socket, head) => {
      void opened.then(() => sync.upgrade(request, socket, head, doorOf(request)));
    });
}

function siteServer(app: App, doorOf: (request: IncomingMessage) => Door, opened: Promise<void>): () => Server {
  return () =>
    createServer((request, response) => {
      void opened.then(() => handleSite(request, response, app, doorOf(request))).catch(() => response.destroy());
    });
}
