/**
 * Where trials share the machine's network, a server of a grader may only listen on ports that were set aside for it:
 * "any free port" then means one of these.
 */
import net from "node:net";

/** Lets servers that ask for any port have the ports in `CONVEX_EVALS_SERVER_PORTS`, one after the other. */
export function useServerPorts(): void {
  const ports = (process.env.CONVEX_EVALS_SERVER_PORTS ?? "").split(",").filter(Boolean).map(Number);
  delete process.env.CONVEX_EVALS_SERVER_PORTS;
  if (ports.length === 0) return;
  const listen = net.Server.prototype.listen as (...args: unknown[]) => net.Server;
  let next = 0;
  const take = (): number => ports[next++ % ports.length]!;
  net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]) {
    const [first, ...rest] = args;
    if (first === 0 || first === undefined || typeof first === "function") {
      return listen.call(this, take(), ...(typeof first === "function" ? args : rest));
    }
    const options = first as net.ListenOptions;
    const anyPort =
      typeof first === "object" && first !== null && options.path === undefined && !("fd" in first) && !options.port;
    return anyPort ? listen.call(this, { ...options, port: take() }, ...rest) : listen.apply(this, args);
  } as typeof net.Server.prototype.listen;
}
