/**
 * Writes what the official tools need to judge a project as we do: `tsconfig.cold-N.json` for each set of files that
 * settings hold for, repairs made, and on stdout which files each of them judges and which files are linted.
 *
 *     node settings.mjs TOOLCHAIN_SOURCES PROJECT
 */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [sources, folder] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(path.join(sources, file)).href);
const { programsOf } = await load("checker/program.ts");
const { lintedFiles } = await load("checker/lint.ts");
const { toProblem } = await load("checker/typecheck.ts");
const ts = createRequire(path.join(sources, "checker", "main.ts"))("typescript");

const project = programsOf(folder);
const programs = project.programs.map(({ program, judged, errors }, index) => {
  const { configFilePath, ...options } = program.getCompilerOptions();
  // `@types` are looked for from where the configuration is.
  const file = path.join(configFilePath ? path.dirname(configFilePath) : project.root, `tsconfig.cold-${index}.json`);
  const { compilerOptions } = ts.convertToTSConfig({ options, fileNames: [], errors: [] }, file, ts.sys);
  writeFileSync(file, JSON.stringify({ compilerOptions, files: program.getRootFileNames() }));
  return { file, judged: judged.map((source) => source.fileName), errors: errors.map((error) => toProblem(project.root, error)) };
});
process.stdout.write(JSON.stringify({ root: project.root, functions: project.functions, programs, linted: lintedFiles(project), repairs: project.repairs }));
