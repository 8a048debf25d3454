/** Graders connect to the ports that they know, and get to the tester's own. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { makeSuite, runTester } from "./test/tester_process.ts";

const GRADER = "evals/000-a/000-b/grader.test.ts";
const SOURCE = `import http from "node:http";
import net, { connect, createConnection } from "node:net";
import { expect, test } from "vitest";

const [port, other] = [Number(process.env.PORT), Number(process.env.OTHER)];
const asProject = Symbol.for("convex-evals.as-project");
const asked = (socket) => new Promise((resolve, reject) => {
  let heard = "";
  socket.on("error", reject).on("data", (data) => (heard += data)).on("end", () => resolve(heard.split("\\r\\n\\r\\n")[1]));
  socket.write("GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n");
});
const byHttp = (options) => new Promise((resolve, reject) =>
  http.get(options, (response) => response.setEncoding("utf8").on("data", resolve)).on("error", reject));

test("the environment says nothing of it", () => {
  expect(process.env.CONVEX_EVALS_DOORS).toBeUndefined();
});
test("every way to the port leads through the door", async () => {
  for (const host of ["localhost", "127.0.0.1", "0.0.0.0"]) {
    expect(await (await fetch(\`http://\${host}:\${port}/\`)).text()).toBe("door");
    expect(await byHttp(\`http://\${host}:\${port}/\`)).toBe("door");
    expect(await byHttp({ host, port: String(port), agent: false })).toBe("door");
    expect(await asked(connect(port, host))).toBe("door");
    expect(await asked(createConnection({ port, host }))).toBe("door");
    expect(await asked(new net.Socket().connect({ port, host }))).toBe("door");
  }
  expect(await asked(connect(port))).toBe("door");
  expect(await asked(connect({ port }))).toBe("door");
});
test("but for what is the project's", async () => {
  expect(await asked(connect({ port, host: "127.0.0.1", [asProject]: true }))).toBe("port");
});
test("other ports are what they are", async () => {
  expect(await (await fetch(\`http://127.0.0.1:\${other}/\`)).text()).toBe("other");
  expect(await asked(connect(other))).toBe("other");
});
`;

async function serve(t: TestContext, says: string): Promise<number> {
  const server = createServer((_request, response) => void response.setHeader("connection", "close").end(says));
  await new Promise<void>((listening) => server.listen(0, listening));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test("connections of a grader", async (t) => {
  const [port, door, other] = [await serve(t, "port"), await serve(t, "door"), await serve(t, "other")];
  const env = { PORT: String(port), OTHER: String(other), CONVEX_EVALS_DOORS: `${port}=${door}` };
  const { verdict } = await runTester(makeSuite(t, { [GRADER]: SOURCE }), GRADER, { env });
  const failed = verdict.tests.filter(({ outcome }) => outcome !== "passed");
  assert.deepEqual(
    { failed, errors: verdict.errors, tests: verdict.tests.length },
    { failed: [], errors: [], tests: 4 },
  );
});
