/** The chat's React page in a real browser: two pages are open, and what one types, the other sees. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { build } from "esbuild";
import { writeGenerated } from "../../push/generated.ts";
import type { StartPushResponse } from "../../push/official.ts";
import { api, emptyBackend, eventually, makeProject, post, startPush } from "../test/harness.ts";
import { ADMIN_KEY } from "../versions.ts";
import { filesOf } from "./test/app.ts";
import { Chromium, findChromium } from "./test/chromium.ts";

const executable = findChromium();

/** The page's script: the app for the room and the author that its address names. */
async function bundle(project: string, backendUrl: string): Promise<string> {
  const contents = `
    import { createRoot } from "react-dom/client";
    import { ConvexProvider, ConvexReactClient } from "convex/react";
    import App from "./src/App";
    const client = new ConvexReactClient(${JSON.stringify(backendUrl)});
    const author = new URLSearchParams(location.search).get("author")!;
    createRoot(document.getElementById("root")!).render(<ConvexProvider client={client}><App room="lobby" author={author} /></ConvexProvider>);`;
  const result = await build({
    stdin: { contents, resolveDir: project, loader: "tsx" },
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    tsconfigRaw: {},
  });
  return result.outputFiles[0]?.text ?? "";
}

async function serve(t: TestContext, script: string): Promise<string> {
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html; charset=utf-8");
    response.end(isScript ? script : '<!doctype html><div id="root"></div><script src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test(
  "a React page in Chromium",
  { skip: executable === null && "needs Chromium (Debian: apt-get install chromium)" },
  async (t) => {
    const backend = await emptyBackend(t);
    const project = makeProject(t, filesOf("chat"));
    const started = await startPush(backend, project);
    assert.equal(started.status, 200, JSON.stringify(started.body));
    await writeGenerated(project, started.body as unknown as StartPushResponse);
    assert.equal(
      (
        await post(`${backend.url}/api/deploy2/finish_push`, {
          adminKey: ADMIN_KEY,
          startPush: started.body,
          dryRun: false,
        })
      ).status,
      200,
    );
    const origin = await serve(t, await bundle(project, backend.url));
    const browser = await Chromium.start(t, executable as string);
    const [ada, bob] = await Promise.all([
      browser.open(`${origin}/?author=ada`),
      browser.open(`${origin}/?author=bob`),
    ]);
    t.after(() => [ada, bob].forEach((page) => page.close()));
    await eventually(async () => (await ada.text("#messages")) === "" && (await bob.text("#messages")) === "", 10_000);

    await ada.type("#body", "Hello Bob");
    await eventually(async () => (await bob.text("#typing")) === "ada is typing");
    await ada.pressEnter();
    await eventually(async () => (await bob.text("#messages")) === "ada: Hello Bob");
    await bob.type("#body", "Hi Ada ❤");
    await bob.pressEnter();
    await eventually(async () => (await ada.text("#messages")) === "ada: Hello Bob\nbob: Hi Ada ❤");
    assert.equal(await ada.evaluate('document.querySelectorAll("li.pending").length'), 0);

    const { ConvexHttpClient } = await import("convex/browser");
    assert.equal(
      (
        (await new ConvexHttpClient(backend.url, { logger: false }).query(api.messages.list, {
          room: "lobby",
        })) as unknown[]
      ).length,
      2,
    );
  },
);
