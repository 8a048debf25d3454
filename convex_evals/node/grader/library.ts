/**
 * What directly run graders import beside vitest, by the name that imports it. build.ts makes one script of it: as files,
 * finding and linking them took a fifth of what a tester does.
 */
import * as browser from "convex/browser";
import * as server from "convex/server";
import * as values from "convex/values";
import * as library from "./exports.ts";

export { setUp } from "./set_up.ts";

export const modules = {
  "convex-evals/grader": library,
  "convex/browser": browser,
  "convex/server": server,
  "convex/values": values,
};
