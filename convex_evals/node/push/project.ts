/** One project folder as the official code wants it: a context, its configuration, its components. */
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DeployError } from "./deploy_error.ts";
import { withoutHostPaths } from "./host_paths.ts";
import { isInside, projectFilesystem } from "./project_fs.ts";
import type { ComponentDirectory, Context, ProjectConfig } from "./official.ts";

type Official = typeof import("./official.ts");

/** The official code, as bundled by `build.ts`. */
const official: Official = await loadOfficial();

async function loadOfficial(): Promise<Official> {
  const bundle = new URL("../build/official.mjs", import.meta.url);
  if (!existsSync(bundle)) throw new Error("build/official.mjs is missing: run `node build.ts` beside it");
  const loaded = (await import(bundle.href)) as Official;
  // What is generated here can be generated again: nobody needs to wait for the disk, as the official one does.
  loaded.nodeFs.writeUtf8File = (file, contents, mode) => writeFileSync(file, contents, { mode: mode ?? 0o666 });
  return loaded;
}

export { official };

/** What a project is to the push: all paths are absolute and real. */
export interface Project {
  ctx: Context;
  root: string;
  config: ProjectConfig;
  rootComponent: ComponentDirectory;
}

/** The last thing that was said is the reason, whether it was printed or is the message of the crash. */
function crashMessage(printedMessage: string | null): string {
  const said = official.takeDiagnostics();
  const printed = printedMessage?.trim() ?? "";
  // esbuild's messages say file and line; the official "esbuild failed" text repeats them in short.
  const reasons =
    printed.startsWith("esbuild failed:") && said.errors.length > 0 ? said.errors : [...said.errors, printed];
  const text = reasons.filter((reason) => reason !== "").join("\n\n");
  return (
    text || said.warnings.join("\n\n") || "the project cannot be deployed, and the Convex command line gives no reason"
  );
}

/** A context whose crash is a typed error instead of the end of the process; it has no credentials. */
function makeContext(root: string): Context {
  return {
    fs: projectFilesystem(official.nodeFs, root),
    deprecationMessagePrinted: true,
    crash: ({ printedMessage, errorType }) => {
      const message = crashMessage(printedMessage);
      // A file that changed while it was read is nobody's mistake in the project.
      return Promise.reject(errorType === "transient" ? new Error(message) : new DeployError(message));
    },
    registerCleanup: () => "",
    removeCleanup: () => async () => {},
    bigBrainAuth: () => null,
    _updateBigBrainAuth: () => {},
  };
}

async function readProject(ctx: Context, root: string): Promise<Project> {
  if (!existsSync(path.join(root, "package.json"))) {
    throw new DeployError("No package.json found in the project folder.");
  }
  await official.ensureHasConvexDependency(ctx, "push");
  const { projectConfig, configPath } = await official.readProjectConfig(ctx);
  const functions = path.resolve(root, official.functionsDir(configPath, projectConfig));
  const real = existsSync(functions) ? realpathSync(functions) : functions;
  if (functions === root || !isInside(root, functions) || real !== functions) {
    throw new DeployError(`the functions folder ${projectConfig.functions} must be a real folder inside the project`);
  }
  const component = official.isComponentDirectory(ctx, functions, true);
  if (component.kind === "err") {
    throw new DeployError(`Invalid component root directory (${component.why}): ${projectConfig.functions}`);
  }
  return { ctx, root, config: projectConfig, rootComponent: component.component };
}

/**
 * Runs `work` on a project with the process in the project's folder, as the official code expects.
 *
 * Only one at a time: the working directory and the recorded messages belong to the process.
 *
 * @throws DeployError when the project is at fault
 */
export async function inProject<T>(projectDir: string, work: (project: Project) => Promise<T>): Promise<T> {
  const root = realpathSync(projectDir);
  const before = process.cwd();
  process.chdir(root);
  official.startDiagnostics();
  official.startBundled();
  try {
    return await work(await readProject(makeContext(root), root));
  } catch (error) {
    const lost = official.lostService();
    if (lost) throw new Error(`esbuild: ${lost.message}`, { cause: lost });
    throw error instanceof DeployError ? new DeployError(withoutHostPaths(root, error.message)) : error;
  } finally {
    process.chdir(before);
  }
}

/** The app and every component it uses, by the absolute path of their folders. */
export async function findComponents(project: Project): ReturnType<Official["componentGraph"]> {
  return await official.componentGraph(project.ctx, project.root, project.rootComponent, false, false);
}

/** Warnings of the official code about the project in work, each a text of one or more lines. */
export function warnings({ root }: Project): string[] {
  return official.takeDiagnostics().warnings.map((text) => withoutHostPaths(root, text));
}
