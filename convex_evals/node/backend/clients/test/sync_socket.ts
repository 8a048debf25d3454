/** A raw WebSocket to the sync endpoint, for clients that do not keep to the protocol. */

import { WebSocket, type ClientOptions } from "ws";

export class SyncSocket {
  readonly socket: WebSocket;
  readonly received: { readonly type: string; readonly [field: string]: unknown }[] = [];
  readonly closed: Promise<void>;

  constructor(url: string, path = "/api/1.48.0/sync", options: ClientOptions = {}) {
    this.socket = new WebSocket(`${url.replace("http", "ws")}${path}`, { perMessageDeflate: false, ...options });
    this.socket.on("error", () => {});
    this.socket.on("message", (data) => this.received.push(JSON.parse(String(data)) as SyncSocket["received"][number]));
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve()));
  }

  async opened(): Promise<this> {
    await new Promise((resolve, reject) =>
      this.socket.once("open", resolve).once("close", () => reject(new Error("refused"))),
    );
    return this;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  connect(): void {
    this.send({
      type: "Connect",
      sessionId: crypto.randomUUID(),
      connectionCount: 0,
      lastCloseReason: null,
      clientTs: 0,
    });
  }
}
