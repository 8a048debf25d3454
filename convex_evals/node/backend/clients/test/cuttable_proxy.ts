/** A TCP proxy in front of a backend, whose connections can be cut or held as a bad network does. */

import net from "node:net";
import type { TestContext } from "node:test";

export interface CuttableProxy {
  readonly url: string;
  /** Ends every connection at once. */
  cut(): void;
  /** While true, nothing is forwarded to the client any more: answers are lost. */
  swallowAnswers: boolean;
}

export async function cuttableProxy(t: TestContext, backendPort: number): Promise<CuttableProxy> {
  const sockets = new Set<net.Socket>();
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const server = net.createServer((client) => {
    const backend = net.connect(backendPort, "127.0.0.1");
    for (const socket of [client, backend]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        backend.destroy();
      });
    }
    client.pipe(backend);
    backend.on("data", (data) => proxy.swallowAnswers || client.write(data));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    cut();
    server.close();
  });
  const proxy = { url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`, cut, swallowAnswers: false };
  return proxy;
}
