/** Servers on the machine's loopback. */

import type { Server } from "node:http";
import type { AddressInfo, ListenOptions } from "node:net";

// Longer than clients keep idle connections: the side that reuses one must be
// the side that closes it.
const KEEP_ALIVE_MS = 75_000;

/** The same server on 127.0.0.1 and, where the machine has it, on ::1. */
export class LoopbackListener {
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
