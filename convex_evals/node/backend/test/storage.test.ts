import assert from "node:assert/strict";
import { test } from "node:test";
import { FileUrls } from "../storage.ts";

test("upload URLs expire after an hour", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 0 });
  const urls = new FileUrls(() => "http://localhost");
  const token = new URL(urls.uploadUrl("part")).searchParams.get("token") ?? "";
  t.mock.timers.setTime(59 * 60_000);
  assert.equal(urls.uploadTarget(token), "part");
  t.mock.timers.setTime(61 * 60_000);
  assert.equal(urls.uploadTarget(token), null);
  assert.equal(urls.uploadTarget("unknown"), null);
});
