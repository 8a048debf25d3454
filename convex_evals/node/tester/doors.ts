/**
 * A project reaches its deployment's ports, and the admin key is well known: there it is of no use. The deployment has
 * ports of its own for the tester, which no project can connect to, and where the key is honoured. A grader connects to
 * the ports that it knows, as everybody does, and gets to those.
 */
import net from "node:net";
import { AS_PROJECT } from "../grader/seen.ts";

const VARIABLE = "CONVEX_EVALS_DOORS";

type Doors = Readonly<Record<string, number>>;
type Connect = (...args: unknown[]) => net.Socket;
interface Connecting extends net.TcpNetConnectOpts {
  path?: string;
  [AS_PROJECT]?: boolean;
}

let inUse: Doors = {};

/** Takes `PORT=DOOR,...` out of the environment, and from here on connects to the doors in place of the ports. */
export function useDoors(): void {
  const pairs = (process.env[VARIABLE] ?? "").split(",").filter(Boolean);
  delete process.env[VARIABLE];
  if (pairs.length === 0) return;
  inUse = Object.fromEntries(pairs.map((pair) => pair.split("=")).map(([port, door]) => [port!, Number(door)]));
  redirect(net.Socket.prototype, inUse, AS_PROJECT);
}

/** The same for a thread of the grader, as the text of a script: threads have Node's own functions again. */
export function doorsOfThread(): string {
  const socket = 'process.getBuiltinModule("node:net").Socket.prototype';
  const asProject = `Symbol.for(${JSON.stringify(AS_PROJECT.description)})`;
  return `(${redirect.toString()})(${socket}, ${JSON.stringify(inUse)}, ${asProject});`;
}

// It goes by nothing outside of it, and has no functions with names: a thread gets its text.
function redirect(socket: object, doors: Doors, asProject: symbol): void {
  const { connect } = socket as { connect: Connect };
  Object.assign(socket, {
    connect(this: net.Socket, ...args: unknown[]) {
      // `net.connect` hands on an array of its own, with the options first.
      const list = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
      const first = list[0];
      const options = (
        typeof first === "object" && first !== null
          ? first
          : { port: first, host: typeof list[1] === "string" ? list[1] : undefined }
      ) as Connecting;
      const door = doors[String(options.port)];
      const here = /^(localhost|127\..*|0\.0\.0\.0|::1?|::ffff:127\..*|)$/.test(options.host ?? "");
      const past = (options as unknown as Record<symbol, unknown>)[asProject] === true || Boolean(options.path);
      if (door !== undefined && here && !past) list[0] = first === options ? { ...options, port: door } : door;
      return connect.apply(this, args);
    },
  });
}
