/** From the candidate's React app to the script of a page. */
import { PAGE } from "./bundle_options.ts";

/** The page's script: the app with the packages of its project, a folder, inside a `ConvexProvider` of the backend at `backend`. */
export async function bundlePage(project: string, app: string, backend: string): Promise<string> {
  const { build } = await import("esbuild");
  const contents = `
    import { createElement } from "react";
    import { createRoot } from "react-dom/client";
    import { ConvexProvider, ConvexReactClient } from "convex/react";
    import * as app from ${JSON.stringify(`./${app}`)};
    if (typeof app.default !== "function") throw new Error(${JSON.stringify(`\`${app}\` must export the app's component as its default`)});
    const client = new ConvexReactClient(${JSON.stringify(backend)}, { skipConvexDeploymentUrlCheck: true });
    createRoot(document.getElementById("root")).render(createElement(ConvexProvider, { client }, createElement(app.default)));
  `;
  const result = await build({
    stdin: { contents, resolveDir: project, loader: "tsx", sourcefile: "page.tsx" },
    ...PAGE,
  }).catch((error: unknown) => {
    throw new Error(
      `\`${app}\` must be a module that can be bundled for the browser: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  return result.outputFiles[0]?.text ?? "";
}
