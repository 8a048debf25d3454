/** A connection to the candidate's backend that a grader can hold, to see an app while its requests are under way. */
import { connect, createServer, type AddressInfo, type Socket, type TcpNetConnectOpts } from "node:net";
import { closeAfterRun } from "./closing.ts";
import { candidateUrl } from "./connection.ts";
import { AS_PROJECT } from "./seen.ts";

/**
 * What comes from the app while the line is held reaches the backend when it is released. What the backend sends always
 * reaches the app at once.
 */
export interface Line {
  /** To be given to the app in place of the backend's own address. */
  url: string;
  hold(): void;
  release(): void;
}

/** A line that is not held. A page, or a program that reaches nothing but the line, has no other way to the backend. */
export async function openLine(): Promise<Line> {
  const backend = new URL(candidateUrl());
  const apps = new Set<Socket>();
  let held = false;
  const server = createServer((app) => {
    const options = { port: Number(backend.port), host: backend.hostname, [AS_PROJECT]: true };
    const toBackend = connect(options as TcpNetConnectOpts);
    const end = (): void => {
      apps.delete(app);
      app.destroy();
      toBackend.destroy();
    };
    for (const socket of [app, toBackend]) socket.setNoDelay().on("error", end).on("close", end);
    app.on("data", (chunk) => void toBackend.write(chunk));
    toBackend.on("data", (chunk) => void app.write(chunk));
    apps.add(app);
    if (held) app.pause();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closeAfterRun(() => {
    server.close();
    for (const app of apps) app.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: () => {
      held = true;
      for (const app of apps) app.pause();
    },
    release: () => {
      held = false;
      for (const app of apps) app.resume();
    },
  };
}
