/** The backend as a whole: two HTTP servers around one app. */

import { createServer, type Server } from "node:http";
import type { AddressInfo, ListenOptions } from "node:net";
import { App } from "./app/app.ts";
import { stopWatchingSoon } from "./realm/watchdog.ts";
import { functionLimits, type FunctionTimes } from "./limits.ts";
import { handleApi } from "./http_api.ts";
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
  /** Time limits of functions; Convex's unless given. */
  readonly limits?: Partial<FunctionTimes>;
  /** Whether deployments are accepted on the ports; by default they are. */
  readonly mayPush?: boolean;
  /** Called for every console line of the app's functions. */
  readonly onLog?: (line: string) => void;
}

// Longer than clients keep idle connections: the side that reuses one must be
// the side that closes it.
const KEEP_ALIVE_MS = 75_000;

export interface Backend {
  readonly port: number;
  readonly sitePort: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly siteUrl: string;
  readonly app: App;
  /** Accepts connections on a socket that somebody else listens with already, too; `mayPush`: and deployments. */
  listenOn(fd: number, mayPush?: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Starts a backend with nothing deployed; resolves when it accepts connections. */
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
      callSystemFunction,
    },
  );
  const parts = { app, push: new PushApi(app), cloudUrl, siteUrl };
  const api = (mayPush: boolean): (() => Server) => {
    const door = { ...parts, mayPush };
    return () =>
      createServer((request, response) => void handleApi(request, response, door).catch(() => response.destroy())).on(
        "upgrade",
        (request, socket, head) => sync.upgrade(request, socket, head),
      );
  };
  const sync = new SyncServer(app);

  const apiListener = new LoopbackListener(api(options.mayPush ?? true));
  const controlListener = new LoopbackListener(api(true));
  const siteListener = new LoopbackListener(() =>
    createServer((request, response) => void handleSite(request, response, app).catch(() => response.destroy())),
  );
  port = await apiListener.listen(options.port ?? 0);
  sitePort = await siteListener.listen(options.sitePort ?? 0);

  return {
    port,
    sitePort,
    url: cloudUrl(),
    siteUrl: siteUrl(),
    app,
    listenOn: (fd, mayPush = false) => (mayPush ? controlListener : apiListener).listenOn(fd),
    close: async () => {
      app.close();
      sync.close();
      stopWatchingSoon();
      await Promise.all([apiListener.close(), controlListener.close(), siteListener.close()]);
    },
  };
}

/** The same server on 127.0.0.1 and, where the machine has it, on ::1. */
class LoopbackListener {
  readonly #create: () => Server;
  readonly #servers: Server[] = [];

  constructor(create: () => Server) {
    this.#create = create;
  }

  async listen(port: number): Promise<number> {
    const server = await this.#listen({ host: "127.0.0.1", port });
    const chosen = (server.address() as AddressInfo).port;
    // `localhost` may resolve to either; a port taken on ::1 is no reason to fail.
    await this.#listen({ host: "::1", port: chosen }).catch(() => {});
    return chosen;
  }

  async listenOn(fd: number): Promise<void> {
    await this.#listen({ fd });
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map(async (server) => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  async #listen(where: ListenOptions | { fd: number }): Promise<Server> {
    const server = this.#create();
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(where, () => {
        server.off("error", reject);
        resolve();
      });
    });
    server.on("clientError", (_error, socket) => {
      if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
      else socket.destroy();
    });
    this.#servers.push(server);
    return server;
  }
}
