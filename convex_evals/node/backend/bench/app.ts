/** Deploys an app given as text, as the benchmarks need it. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildPushRequest } from "../../push/request.ts";
import { ADMIN_KEY } from "../versions.ts";

const packages = path.dirname(path.dirname(createRequire(import.meta.url).resolve("convex/package.json")));

/** Pushes `files` to the backend at `url`; throws what it answers when it refuses. */
export async function deployFiles(
  { url }: { readonly url: string },
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "backend-bench-"));
  try {
    symlinkSync(packages, path.join(folder, "node_modules"));
    for (const [name, content] of Object.entries({
      "package.json": '{"name":"app","dependencies":{"convex":"*"}}',
      ...files,
    })) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), content);
    }
    const startPush = await step(url, "start_push", await buildPushRequest(folder));
    await step(url, "finish_push", { startPush, dryRun: false });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function step(url: string, name: string, body: object): Promise<unknown> {
  const response = await fetch(`${url}/api/deploy2/${name}`, {
    method: "POST",
    body: JSON.stringify({ ...body, adminKey: ADMIN_KEY }),
  });
  if (!response.ok) throw new Error(await response.text());
  return await response.json();
}
