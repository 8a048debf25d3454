/** The embedded backend as a process, for tests that need a real answer to a push. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Readable } from "node:stream";
import type { TestContext } from "node:test";

export { ADMIN_KEY } from "../../backend/versions.ts";

const NODE_FLAGS = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];
const main = fileURLToPath(new URL("../../backend/main.ts", import.meta.url));

async function firstLine(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return text;
}

/** Starts a backend without an app and returns its URL; it ends with the test. */
export async function startBackend(t: TestContext): Promise<string> {
  const args = [...NODE_FLAGS, main, "--port", "0", "--site-port", "0", "--ready-fd", "3", "--exit-with-stdin"];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "inherit", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  const ready = JSON.parse(await firstLine(child.stdio[3] as Readable)) as { port: number };
  return `http://127.0.0.1:${ready.port}`;
}
