/** What the library asks of vitest, in the file that imports it. */
import type { afterAll, chai } from "vitest";
import { closeAll } from "./closing.ts";

/** Closes everything after the last test, and shows values in full. */
export function setUp(vitest: { afterAll: typeof afterAll; chai: typeof chai }): void {
  vitest.afterAll(closeAll);
  // "expected [ Array(3) ] to deeply equal [ Array(3) ]" helps nobody.
  vitest.chai.config.truncateThreshold = 500;
}
