/** The WebSocket side of the sync protocol: `/api/<version>/sync`. */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type RawData, type WebSocket } from "ws";
import type { App } from "../app/app.ts";
import type { Door } from "../doors.ts";
import { MAX_CALL_BYTES } from "../request_limits.ts";
import { SyncConnection } from "./connection.ts";
import { MutationHistory } from "./mutation_history.ts";
import type { ServerMessage } from "./protocol.ts";

const PATH = /^\/api\/([^/]+\/)?sync$/;
// Clients reconnect when they hear nothing for a while.
const PING_INTERVAL_MS = 15_000;

export class SyncServer {
  readonly #app: App;
  readonly #history = new MutationHistory();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_CALL_BYTES, perMessageDeflate: false });

  constructor(app: App) {
    this.#app = app;
  }

  /** Takes over an HTTP upgrade; anything but the sync path is refused. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, door: Door): void {
    socket.on("error", () => socket.destroy());
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    if (!PATH.test(path)) {
      socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => this.#accept(webSocket, door));
  }

  close(): void {
    for (const webSocket of this.#sockets.clients) webSocket.terminate();
    this.#sockets.close();
  }

  #accept(webSocket: WebSocket, door: Door): void {
    const send = (message: ServerMessage): void => {
      if (webSocket.readyState === webSocket.OPEN) webSocket.send(JSON.stringify(message));
    };
    const transport = { send, close: () => webSocket.close() };
    const connection = new SyncConnection(this.#app, this.#history, transport, door);
    const pings = setInterval(() => send({ type: "Ping" }), PING_INTERVAL_MS);
    pings.unref();
    webSocket.on("message", (data: RawData) => connection.receive(textOf(data)));
    webSocket.on("error", () => webSocket.terminate());
    webSocket.on("close", () => {
      clearInterval(pings);
      connection.close();
    });
  }
}

function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString("utf8");
  return Array.isArray(data) ? Buffer.concat(data).toString("utf8") : Buffer.from(data).toString("utf8");
}
