/**
 * Tries, from inside a sandbox, what a hostile project would try, and writes what it got to descriptor 3:
 *
 *     node sandbox/probe.ts '{"secret": FILE, "outside": FOLDER, "marker": TEXT, "port": N, ...}'
 *     {"attacks": {NAME: "stopped: EACCES" | "succeeded"}, "needs": {NAME: "ok" | REASON}}
 *
 * What leaves no trace here (a datagram, a signal) is judged by whoever started this.
 */
import { spawnSync } from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns/promises";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

interface World {
  /** A file that must not be readable. */
  secret: string;
  /** A folder that must not be writable. */
  outside: string;
  /** Stands in the environment of the process `victim`. */
  marker: string;
  victim: number;
  /** Of a server on the machine's loopback, of one that receives datagrams, and of the answer of this trial. */
  port: number;
  udpPort: number;
  hiddenPort: number;
  /** A Unix socket. */
  socket: string;
  /** A folder that must be writable. */
  own: string;
}

const world = JSON.parse(process.argv[2]!) as World;

const connected = (where: net.NetConnectOpts): Promise<true> =>
  new Promise((resolve, reject) => {
    const socket = net.connect(where, () => resolve(true)).on("error", reject);
    setTimeout(() => reject(new Error("no answer")), 1000).unref();
    void socket;
  });

function environments(): boolean {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/environ`, "utf8").includes(world.marker);
      } catch {
        return false;
      }
    });
}

/** Every attack returns whether it got what it wanted, or throws what kept it from that. */
const attacks: Record<string, () => boolean | Promise<boolean>> = {
  "read a file outside": () => fs.readFileSync(world.secret, "utf8").length > 0,
  "write outside": () => {
    fs.writeFileSync(path.join(world.outside, "written"), "x");
    return true;
  },
  "write to the toolchain": () => {
    fs.appendFileSync(process.argv[1]!, "\n");
    return true;
  },
  "environments of other processes": environments,
  "connect to the machine's loopback": () => connected({ port: world.port, host: "127.0.0.1" }),
  "connect to the answer": () => connected({ port: world.hiddenPort, host: "127.0.0.1" }),
  "connect to a Unix socket": () => connected({ path: world.socket }),
  "send a datagram": () =>
    new Promise((resolve, reject) => {
      const socket = dgram.createSocket("udp4").on("error", reject);
      socket.send("x", world.udpPort, "127.0.0.1", () => setTimeout(() => (socket.close(), resolve(false)), 50));
    }),
  "signal another process": () => {
    process.kill(world.victim, "SIGKILL");
    return false;
  },
  "new namespaces": () => spawnSync("/usr/bin/unshare", ["--user", "--map-root-user", "true"]).status === 0,
};

const needs: Record<string, () => void | Promise<unknown>> = {
  "write to its own folder": () => fs.writeFileSync(path.join(world.own, "x"), "x"),
  "resolve localhost": () => dns.lookup("localhost"),
  "run programs": () => {
    if (spawnSync("/bin/sh", ["-c", "exit 7"]).status !== 7) throw new Error("/bin/sh did not run");
  },
  "listen on its loopback": () =>
    new Promise((resolve, reject) =>
      net
        .createServer()
        .on("error", reject)
        .listen(0, "127.0.0.1", () => resolve(true)),
    ),
};

const said = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? (error as Error).message);

const found: { attacks: Record<string, string>; needs: Record<string, string> } = { attacks: {}, needs: {} };
for (const [name, attack] of Object.entries(attacks)) {
  try {
    found.attacks[name] = (await attack()) ? "succeeded" : "stopped";
  } catch (error) {
    found.attacks[name] = `stopped: ${said(error)}`;
  }
}
for (const [name, need] of Object.entries(needs)) {
  try {
    await need();
    found.needs[name] = "ok";
  } catch (error) {
    found.needs[name] = said(error);
  }
}
fs.writeSync(3, `${JSON.stringify(found)}\n`);
process.exit(0);
