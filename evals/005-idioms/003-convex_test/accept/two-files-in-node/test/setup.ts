import { afterEach, expect } from "vitest";

// Every test must look at something.
afterEach(() => {
  expect(expect.getState().assertionCalls).toBeGreaterThan(0);
});
