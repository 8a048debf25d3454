async function attack(world) {
  // Where the grader removes and writes what it believes to be the project's.
  const answer = `${world.suite}/evals/000-attacks/003-programs_beside_suite/answer/convex`;
  attempt("folder", () => (fs.rmSync("convex", { recursive: true, force: true }), fs.symlinkSync(answer, "convex")));
  attempt("hard link", () => fs.linkSync(`${answer}/ping.ts`, "hard.txt"));
  attempt("fifo", () => sh("rm -f result.txt; ln -s convex/ping.ts result.txt"));
}
