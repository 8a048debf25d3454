/**
 * Whether a project has tests of its own, and what its vitest may run then.
 *
 * Vitest loads files in ways that no bundler follows (`import.meta.glob`, `vi.importActual`, workers, what its settings name or
 * include), and takes for code whatever is no style sheet, picture or JSON. So all code of such a project is what may run.
 */
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { transform } from "esbuild";
import { isScript, shownPath } from "./project_fs.ts";

const TEST = /\.(test|spec)\.[mc]?[jt]sx?$/;
const SETTINGS = /^vitest\.[\w.-]+$/;
/** What Vite never takes for code: CSS_LANGS_RE and KNOWN_ASSET_TYPES in its constants.ts, and JSON. */
const DATA =
  /\.(css|less|sass|scss|styl|stylus|pcss|postcss|sss|json|apng|bmp|png|jpe?g|jfif|pjpeg|pjp|gif|svg|ico|webp|avif|cur|jxl|mp4|webm|ogg|mp3|wav|flac|aac|opus|mov|m4a|vtt|woff2?|eot|ttf|otf|webmanifest|pdf|txt)$/;
/** Where only Convex writes: bundling has emptied, or refused, what a project had there. */
const GENERATED = /(^|\/)_generated\//;
const NOT_OURS = new Set(["node_modules", ".git"]);
/** Statements without an effect are left out, and so are types. */
const WITHOUT_IDLE = {
  format: "esm",
  ignoreAnnotations: true,
  legalComments: "none",
  logLevel: "silent",
  minifySyntax: true,
  treeShaking: true,
  tsconfigRaw: {},
} as const;
/** Calls, templates and modules in addresses: without one of them, code does nothing. */
const DOES_SOMETHING = /[(`]|data:/;

function filesBelow(root: string): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const place = path.join(folder, entry.name);
      if (entry.isDirectory() && !NOT_OURS.has(entry.name)) visit(place);
      else if (entry.isFile()) found.push(place);
    }
  };
  visit(root);
  return found;
}

/** Whether vitest may be installed: packages may have other names, and bring others. */
function dependsOnVitest(root: string): boolean {
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Record<string, unknown>;
  return Object.entries(manifest).some(
    ([key, packages]) => /dependencies$/i.test(key) && /vitest/.test(JSON.stringify(packages)),
  );
}

/** Whether a file that is not named like code is code all the same, and does something when it is loaded. */
async function isCode(file: string): Promise<boolean> {
  if (DATA.test(file)) return false;
  const text = readFileSync(file, "utf8");
  const made = await Promise.all(
    (["js", "ts", "tsx"] as const).map((loader) =>
      transform(text, { ...WITHOUT_IDLE, loader }).then(
        ({ code }) => code,
        () => "",
      ),
    ),
  );
  return made.some((code) => DOES_SOMETHING.test(code));
}

/** What the project's own vitest may run: `scripts`, and `misnamed` files, whose code no check reads. None without tests. */
export async function runByTests(root: string): Promise<{ scripts: string[]; misnamed: string[] }> {
  const files = filesBelow(root);
  const hasTests =
    dependsOnVitest(root) ||
    files.some((file) => TEST.test(file) || (path.dirname(file) === root && SETTINGS.test(path.basename(file))));
  if (!hasTests) return { scripts: [], misnamed: [] };
  const others = files.filter((file) => !isScript(file) && !GENERATED.test(shownPath(root, file)));
  const areCode = await Promise.all(others.map(isCode));
  return { scripts: files.filter(isScript), misnamed: others.filter((_, index) => areCode[index]) };
}
