import { defineConfig } from "vitest/config";

export default defineConfig(() => ({
  test: {
    include: ["convex/**/*.test.ts", "test/*.test.ts"],
    setupFiles: ["./test/setup.ts"],
    server: { deps: { inline: ["convex-test"] } },
  },
}));
