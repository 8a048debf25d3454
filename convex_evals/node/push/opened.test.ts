import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { build as esbuild } from "esbuild";
import { seededRandom } from "../backend/isolate/determinism.ts";
import { addFiles } from "../checker/test/projects.ts";
import { PAGE, PROGRAM } from "../grader/bundle_options.ts";
import { DeployError } from "./deploy_error.ts";
import { buildPush, type BuiltPush } from "./request.ts";
import { copyApp, workFolder } from "./test/work_folder.ts";

/** Parts of names that have a meaning to some tool, in a metafile above all. */
const PARTS = [
  ...["a", "b.ts", "c.json", "d.css", "e.js", "f.test", "_generated", "-"],
  ...["?x", "#y", "%2e", ":", "*", "<runtime>", "<define:x>", "<candidates>", " with { type: 'json' }", "é", " "],
  ...["wasm-binary:", "wasm-stub:", "convex-virtual-config:", "(disabled):", "data:text/javascript,", "file:"],
];
const EXTENSIONS = [".ts", ".js", ".mts", ".cjs", ".tsx", ".json", ".css", ".txt", "", "?x.ts", "#y.js", ".ts?x"];
const QUERIES = ["", "", "", "?x", "#y", "?a.ts", "#.json", "?b.css", "?/node_modules/a/b.ts"];
const ATTRIBUTES = ["", "", "", ' with { type: "json" }'];
const PROJECTS = 40;

/** A file that says its own number wherever it runs; what is read as data says it too. */
function contentOf(file: string, marker: string): string {
  if (file.endsWith(".css")) return `.a { content: "${marker}" }`;
  return /\.(json|txt)$/.test(file) ? `"${marker}"` : `console.log("${marker}");\n`;
}

/** Files of odd names in odd folders, by name: the marker that tells where each of them went. */
function oddFiles(next: () => number): Map<string, string> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  const part = (): string => Array.from({ length: 1 + Math.floor(next() * 2) }, () => pick(PARTS)).join("");
  const files = Array.from({ length: 3 }, (_, index) => {
    const folders = Array.from({ length: Math.floor(next() * 3) }, part);
    return [[...folders, `${part()}${pick(EXTENSIONS)}`].join("/"), `marker ${index};`] as const;
  });
  return new Map(files);
}

/** What a page of `src/uses.ts` and a program of it are made of; nothing where they cannot be bundled. */
async function shownAndRun(project: string): Promise<string> {
  const builds = [PAGE, PROGRAM].map((options) =>
    esbuild({ ...options, absWorkingDir: project, entryPoints: ["src/uses.ts"], outdir: "out" }).catch(() => undefined),
  );
  return (await Promise.all(builds)).flatMap((each) => each?.outputFiles.map(({ text }) => text) ?? []).join("\n");
}

/** What a name may be taken for by whoever reads it as esbuild writes names: a file each, and a folder. */
function decoysOf(file: string, query: string): Record<string, string> {
  const read = [
    file.replace(/^[a-z-]+:|^\([a-z]+\):/, ""),
    file.replace(/ with \{.*\}/s, ""),
    file.replace(/[?#].*$/s, ""),
    ...(query === "" ? [] : [`${file}${query}/nothing.txt`]),
  ];
  const usable = read.filter((name) => /[^/]$/.test(name) && name !== file);
  return Object.fromEntries(usable.map((name) => [name, ""]));
}

async function built(project: string): Promise<BuiltPush | undefined> {
  try {
    return await buildPush(project);
  } catch (error) {
    if (error instanceof DeployError) return undefined; // nothing of it runs
    throw error;
  }
}

test("whatever the names of files, what runs is recorded by its name", async (t) => {
  const root = workFolder(t);
  const ran = { functions: 0, pages: 0 };
  for (let seed = 1; seed <= PROJECTS; seed++) {
    const next = seededRandom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
    const odd = oddFiles(next);
    for (const [file, marker] of odd) {
      const project = copyApp("bare", path.join(root, `${seed}-${marker.replace(/\D/g, "")}`));
      const others = new Map([...odd].filter(([name]) => !name.startsWith(`${file}/`) && !file.startsWith(`${name}/`)));
      const query = pick(QUERIES);
      const specifier = JSON.stringify(`../${file}${query}`) + pick(ATTRIBUTES);
      const uses = `import * as all from ${specifier};\nexport const used = all;\n`;
      try {
        addFiles(project, {
          ...decoysOf(file, query),
          ...Object.fromEntries([...others].map(([name, text]) => [name, contentOf(name, text)])),
          "convex/uses.ts": uses,
          "src/uses.ts": `${uses}console.log(used);\n`,
        });
      } catch {
        continue; // no file system has both a file and a folder of one name
      }
      const push = await built(project);
      if (push === undefined) continue;
      const code = { functions: JSON.stringify(push.request), pages: await shownAndRun(project) };
      for (const where of ["functions", "pages"] as const) {
        for (const [name, text] of others) {
          // What is read as data runs nowhere, and pages may have it without being checked.
          if (!code[where].includes(where === "pages" ? contentOf("", text).trim() : text)) continue;
          ran[where]++;
          const recorded = JSON.stringify(push.sources[where]);
          assert.ok(name in push.sources[where], `seed ${seed}, ${name} by ${specifier}: in ${where} ${recorded}`);
        }
      }
    }
  }
  assert.ok(Math.min(ran.functions, ran.pages) >= PROJECTS / 4, `few of the files ran: ${JSON.stringify(ran)}`);
  t.diagnostic(JSON.stringify(ran));
});
