/** A connection to the candidate's backend that a grader can hold, to see an app while its requests are under way. */
import { candidateUrl, closeAfterRun } from "convex-evals/grader";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

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

export async function openLine(): Promise<Line> {
  const backend = new URL(candidateUrl());
  const apps = new Set<Socket>();
  let held = false;
  const server = createServer((app) => {
    const toBackend = connect(Number(backend.port), backend.hostname);
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
