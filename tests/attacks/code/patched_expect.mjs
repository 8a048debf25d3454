async function attack() {
  const harmless = new Proxy(() => harmless, { get: () => harmless });
  globalThis.expect = harmless;
  globalThis.test = globalThis.it = () => {};
  for (const name of ["vitest", "@vitest/expect", "@vitest/runner", "chai"]) {
    try {
      const found = await import(/* @vite-ignore */ name);
      for (const key of Object.keys(found)) attempt(`${name}.${key}`, () => (found[key].prototype && Object.assign(found[key].prototype, { assert: () => {}, toBe: () => {}, toEqual: () => {} }), "patched"));
    } catch (error) {
      note(`${name}: ${error.code}`);
    }
  }
  process.exitCode = 3;
}
