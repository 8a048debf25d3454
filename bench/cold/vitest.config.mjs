/** What our tester gives vitest, for the official command line; COLD_RUN says which grader, and where its verdict goes. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const { sources, run, root, out } = JSON.parse(process.env.COLD_RUN);
const load = (file) => import(pathToFileURL(path.join(sources, file)).href);
const { testOptions, viteOptions } = await load("tester/vitest_run.ts");
const { collectVerdict, withoutHostPaths } = await load("tester/tasks.ts");

const reporter = {
  onInit(vitest) {
    this.vitest = vitest;
  },
  onTestRunEnd() {
    const { state } = this.vitest;
    const verdict = collectVerdict(state.getFiles(), state.getUnhandledErrors(), run.grader);
    writeFileSync(out, JSON.stringify(withoutHostPaths(verdict, run.suite)));
  },
};
export default { ...viteOptions(run, root), test: { ...testOptions(run, root), reporters: [reporter] } };
