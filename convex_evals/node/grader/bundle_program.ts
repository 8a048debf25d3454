/** Bundles the program that comes through stdin with modules of the project in the folder that is named, and prints it. */
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { PROGRAM } from "./bundle_options.ts";

try {
  const result = await build({
    stdin: { contents: readFileSync(0, "utf8"), resolveDir: process.argv[2]!, loader: "ts", sourcefile: "program.ts" },
    ...PROGRAM,
  });
  process.stdout.write(result.outputFiles[0]!.text);
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
