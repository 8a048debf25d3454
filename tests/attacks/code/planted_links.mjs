async function attack(world) {
  const answer = `${world.suite}/evals/000-attacks/003-programs_beside_suite/answer/convex/ping.ts`;
  const plant = { 1: () => fs.symlinkSync(answer, "result.txt"), 2: () => fs.symlinkSync(answer.replace("ping.ts", "../convex/ping.ts"), "result.txt") };
  fs.rmSync("result.txt", { force: true });
  plant[process.argv[2]]();
}
