/** Entry of the bundle made by `build.ts`: what we use of the official command line, and nothing else. */

export { doFinalComponentCodegen, doInitialComponentCodegen } from "#official/cli/lib/codegen.js";
export {
  bundleDefinitions,
  bundleImplementations,
  componentGraph,
} from "#official/cli/lib/components/definition/bundle.js";
export {
  isComponentDirectory,
  type ComponentDirectory,
} from "#official/cli/lib/components/definition/directoryStructure.js";
export { readProjectConfig, type ProjectConfig } from "#official/cli/lib/config.js";
export { ensureHasConvexDependency, functionsDir } from "#official/cli/lib/utils/utils.js";
export { nodeFs, withTmpDir, type Filesystem } from "#official/bundler/fs.js";
export { version } from "#official/cli/version.js";
export type { Context, ErrorType } from "#official/bundler/context.js";
export type { StartPushResponse } from "#official/cli/lib/deployApi/startPush.js";
export { startDiagnostics, takeDiagnostics, type Diagnostics } from "./diagnostics.ts";
export { startBundled, takeBundled } from "./bundled.ts";
export { esbuild, lostService } from "./esbuild.ts";
