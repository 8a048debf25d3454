/** From the candidate's React app to the script of a page. */
import type { BuildOptions, OutputFile } from "esbuild";
import { PAGE } from "./bundle_options.ts";

// One bundle is all that this esbuild makes: memory is collected only where there is much, which takes a third less time.
const ESBUILD = { GOGC: "off", GOMEMLIMIT: "384MiB" };

/** What esbuild makes; it is started here, and sees settings that the app never does. */
async function built(options: BuildOptions & { write: false }): Promise<OutputFile[]> {
  const { build } = await import("esbuild");
  Object.assign(process.env, ESBUILD);
  const building = build(options);
  for (const name of Object.keys(ESBUILD)) delete process.env[name];
  return (await building).outputFiles;
}

/** The page's script: the app with the packages of its project, a folder, inside a `ConvexProvider` of the backend at `backend`. */
export async function bundlePage(project: string, app: string, backend: string): Promise<string> {
  const contents = `
    import { createElement } from "react";
    import { createRoot } from "react-dom/client";
    import { ConvexProvider, ConvexReactClient } from "convex/react";
    import * as app from ${JSON.stringify(`./${app}`)};
    if (typeof app.default !== "function") throw new Error(${JSON.stringify(`\`${app}\` must export the app's component as its default`)});
    const client = new ConvexReactClient(${JSON.stringify(backend)}, { skipConvexDeploymentUrlCheck: true });
    createRoot(document.getElementById("root")).render(createElement(ConvexProvider, { client }, createElement(app.default)));
  `;
  const files = await built({
    stdin: { contents, resolveDir: project, loader: "tsx", sourcefile: "page.tsx" },
    ...PAGE,
  }).catch((error: unknown) => {
    throw new Error(
      `\`${app}\` must be a module that can be bundled for the browser: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  return files[0]?.text ?? "";
}
