import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import net from "node:net";
import { test } from "node:test";
import { emptyBackend } from "./harness.ts";

const UPGRADE = [
  "GET /api/1.48.0/sync HTTP/1.1",
  "Host: x",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "\r\n",
].join("\r\n");

// Connects, writes, and goes away without waiting for an answer.
async function send(port: number, data: Buffer | string): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.write(data);
      setTimeout(() => socket.destroy(), 20);
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.resume();
  });
}

test("random bytes, broken frames and half requests do not bring it down", async (t) => {
  const backend = await emptyBackend(t);
  const attacks = [
    () => randomBytes(300),
    () => Buffer.concat([Buffer.from(UPGRADE), randomBytes(300)]),
    () => "POST /api/query HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    () => "GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n",
    () => "POST /api/deploy2/start_push HTTP/1.1\r\nHost: x\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\nabcd",
  ];
  for (let round = 0; round < 20; round++) {
    await Promise.all(attacks.flatMap((attack) => [send(backend.port, attack()), send(backend.sitePort, attack())]));
  }
  assert.equal((await fetch(`${backend.url}/version`)).status, 200);
  assert.equal((await fetch(`${backend.siteUrl}/anything`)).status, 404);
});
