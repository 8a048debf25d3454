/** Bundles the program that comes through stdin with modules of the project in the folder that is named, and prints it. */
import { readFileSync } from "node:fs";
import { build } from "esbuild";

try {
  const result = await build({
    stdin: { contents: readFileSync(0, "utf8"), resolveDir: process.argv[2]!, loader: "ts", sourcefile: "program.ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    // Packages in the older module format require Node's own modules.
    banner: { js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);' },
    logLevel: "silent",
    // The project's own compiler options are judged by the type check, and must not change what runs here.
    tsconfigRaw: {},
  });
  process.stdout.write(result.outputFiles[0]!.text);
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
