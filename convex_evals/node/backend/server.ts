/** The backend as a whole: two HTTP servers around one app. */

import { createServer, type Server } from "node:http";
import { App } from "./app/app.ts";
import { stopWatchingSoon } from "./realm/watchdog.ts";
import { LoopbackListener } from "./listener.ts";
import { functionLimits, type FunctionTimes } from "./limits.ts";
import { handleApi, type ApiParts } from "./http_api.ts";
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
  const sync = new SyncServer(app);
  const api = (mayPush: boolean): (() => Server) => apiServer({ ...parts, mayPush }, sync);
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

function apiServer(door: ApiParts, sync: SyncServer): () => Server {
  return () =>
    createServer((request, response) => void handleApi(request, response, door).catch(() => response.destroy())).on(
      "upgrade",
      (request, socket, head) => sync.upgrade(request, socket, head),
    );
}
