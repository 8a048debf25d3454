/** The `_generated` folders of a project: written by the official templates, never taken over from its author. */
import { lstatSync, readFileSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { DeployError } from "./deploy_error.ts";
import { isInside } from "./project_fs.ts";
import { findComponents, inProject, official, type Project } from "./project.ts";
import type { ComponentDirectory, StartPushResponse } from "./official.ts";

/** The app first, then the components whose source is in the project; packages keep the code they ship. */
function generatedFor(project: Project, components: Map<string, ComponentDirectory>): ComponentDirectory[] {
  const local = [...components.values()].filter(
    (component) => !component.isRoot && !component.definitionPath.endsWith(".js"),
  );
  const outside = local.find((component) => !isInside(project.root, component.path));
  if (outside) {
    throw new DeployError(
      `the component at ${path.relative(project.root, outside.path)} is outside the project and has no compiled code`,
    );
  }
  return [project.rootComponent, ...local];
}

/** Deletes what the author of the project left in `_generated`: a stale or forged file must not be bundled. */
export function discardGenerated(project: Project, components: Map<string, ComponentDirectory>): void {
  for (const component of generatedFor(project, components)) {
    const folder = path.join(component.path, "_generated");
    const entry = lstatSync(folder, { throwIfNoEntry: false });
    if (entry && !entry.isDirectory()) {
      throw new DeployError(
        `${path.relative(project.root, folder)} is not a folder; generated code is not written there`,
      );
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

function foldersNamed(name: string, folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const place = path.join(folder, entry.name);
    if (entry.name === name) return [place];
    return entry.isDirectory() && entry.name !== "node_modules" ? foldersNamed(name, place) : [];
  });
}

/** Generated code is not judged: what its author calls so, and Convex does not write, has no place in a project. */
export function refuseOtherGenerated(project: Project, components: Map<string, ComponentDirectory>): void {
  const ours = new Set(generatedFor(project, components).map((component) => path.join(component.path, "_generated")));
  const other = foldersNamed("_generated", project.root).find((folder) => !ours.has(folder));
  if (other === undefined) return;
  const own = path.relative(project.root, path.join(project.rootComponent.path, "_generated"));
  throw new DeployError(
    `${path.relative(project.root, other)}: Convex writes no generated code there (the app's is in ${own}): a folder of your own needs another name`,
  );
}

/** Writes the stubs that make a project bundleable before the backend has analysed it. */
export async function writeInitial(project: Project, components: Map<string, ComponentDirectory>): Promise<void> {
  await official.withTmpDir(async (tmpDir) => {
    for (const component of generatedFor(project, components)) {
      await official.doInitialComponentCodegen(project.ctx, tmpDir, component);
    }
  });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** By file: its text. Declarations, of which no code is left, are not among them. */
function textsOf(files: readonly string[]): Map<string, string> {
  const code = files.filter((file) => !/\.d\.[mc]?ts$/.test(file));
  return new Map(code.map((file) => [file, readFileSync(file, "utf8")]));
}

/** The JavaScript that a text of TypeScript becomes, but for what some templates leave out. */
async function codeOf(text: string): Promise<string> {
  const { code } = await official.esbuild.transform(text, { loader: "ts", tsconfigRaw: {} });
  return code.replace(FULL_API, "");
}

/** What the backend's analysis holds as JSON in JSON: validators, mostly. */
const IN_JSON = new Set(["args", "returns", "schema", "documentType"]);
/** What it holds that no template prints. */
const NOT_PRINTED = new Set(["cronSpecs", "sourceMapping"]);

/** Whether a text of validators would end a string of TypeScript: the templates print texts as they are. */
function escapes(value: unknown, key = ""): boolean {
  if (NOT_PRINTED.has(key)) return false;
  if (typeof value === "string") {
    if (!IN_JSON.has(key) || !/^\s*[[{]/.test(value)) return /["\\\r\n\u2028\u2029]/.test(value);
    return escapes(JSON.parse(value));
  }
  if (Array.isArray(value)) return value.some((each) => escapes(each));
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, each]) => escapes(name) || escapes(each, name));
}

/** A line of an app's generated code that some of its templates leave out. */
const FULL_API = /^const fullApi = anyApi;\n/m;
const CANNOT = "Convex cannot generate code for this project";

/** Generated code is not judged, so that no text of a project's may leave its quotes there. */
function refuseEscapes(
  { config: { codegen }, rootComponent }: Project,
  targets: readonly ComponentDirectory[],
  { analysis }: StartPushResponse,
): void {
  for (const { isRoot, path: folder } of targets) {
    const each: unknown = (analysis as Record<string, unknown>)[
      path.relative(rootComponent.path, folder).split(path.sep).join("/")
    ];
    const printed = !isRoot || codegen.staticApi || codegen.staticDataModel;
    if (printed && escapes(each)) {
      throw new DeployError(
        `${CANNOT}: a text in its validators has a quote, a backslash or a line break, which the types of components and of \`codegen\` in convex.json cannot hold`,
      );
    }
  }
}

/** Runs the official templates, whose formatter cannot read all that they can be made to write. */
async function format(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof SyntaxError) throw new DeployError(`${CANNOT}: ${error.message}`);
    throw error;
  }
}

/**
 * Writes `_generated` of the app and its local components from the backend's analysis, as `npx convex dev` does.
 *
 * @param response body of the backend's answer to `/api/deploy2/start_push`
 * @returns the files that are there afterwards, relative to the project, with forward slashes, sorted
 * @throws DeployError when the project is at fault
 */
export async function writeGenerated(projectDir: string, response: StartPushResponse): Promise<string[]> {
  return await inProject(projectDir, async (project) => {
    const { components } = await findComponents(project);
    await writeInitial(project, components);
    const targets = generatedFor(project, components);
    const all = (): string[] => targets.flatMap((component) => filesIn(path.join(component.path, "_generated")));
    const stubs = textsOf(all());
    await format(() =>
      official.withTmpDir(async (tmpDir) => {
        refuseEscapes(project, targets, response);
        for (const component of targets) {
          await official.doFinalComponentCodegen(
            project.ctx,
            tmpDir,
            project.rootComponent,
            component,
            response,
            components,
          );
        }
      }),
    );
    // What the analysis adds to the first stubs are types alone.
    for (const [file, text] of textsOf(all())) {
      const stub = stubs.get(file) ?? "";
      if (text !== stub && (await codeOf(text)) !== (await codeOf(stub))) {
        throw new DeployError(`${CANNOT}: ${path.relative(project.root, file)} would hold code of its own`);
      }
    }
    return all()
      .map((file) => path.relative(project.root, file).split(path.sep).join("/"))
      .sort();
  });
}
