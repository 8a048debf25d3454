import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { prepareIsolates } from "../realm/isolate_loader.ts";
import { freshContext } from "../realm/spare_contexts.ts";

test("each call gets a context that nothing has used, also where contexts were made ahead", async () => {
  await prepareIsolates();
  const seen = new Set<object>();
  for (let call = 0; call < 12; call++) {
    const { context, entry } = freshContext();
    assert.equal(seen.has(context), false);
    assert.equal("left" in context, false);
    seen.add(context);
    Object.assign(context, { left: call });
    Object.assign(entry, { left: call });
    if (call % 3 === 0) await sleep(20);
  }
});
