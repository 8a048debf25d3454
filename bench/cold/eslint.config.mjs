/** Our rules for the official command line; COLD_SETTINGS is what settings.mjs printed, COLD_SOURCES the toolchain. */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const { root, functions, programs, linted } = JSON.parse(process.env.COLD_SETTINGS);
const sources = process.env.COLD_SOURCES;
const { CLIENT_RULES, FUNCTION_RULES, LANGUAGE, clientPlugins } = await import(pathToFileURL(path.join(sources, "checker", "lint.ts")).href);

const inFolder = (file) => file.startsWith(`${functions}/`);
const shown = (file) => path.relative(root, file);
export default programs.flatMap(({ file: project, judged }) =>
  [FUNCTION_RULES, CLIENT_RULES].map((rules) => ({
    // A pattern matches no file that is called like one with brackets.
    files: [...judged.filter((file) => linted.includes(file) && inFolder(file) === (rules === FUNCTION_RULES)).map((file) => shown(file).replace(/[[\]{}()*?!+@]/g, "\\$&")), "\u0000"],
    languageOptions: { ...LANGUAGE, parserOptions: { project } },
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: "off" },
    plugins: clientPlugins(),
    rules,
  })),
);
