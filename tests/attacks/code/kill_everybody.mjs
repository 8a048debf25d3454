async function attack(world) {
  for (const pid of [world.victim, world.harness, -world.victim, 1])
    attempt(`kill ${pid}`, () => (process.kill(pid, pid === world.victim ? "SIGKILL" : 0), "PWNED"));
  attempt("limits", () => (sh(`prlimit --pid ${world.victim} --nofile=1:1`).startsWith("0") ? "PWNED" : "refused"));
  attempt("priority", () => (os.setPriority(world.victim, 19), "PWNED"));
  attempt("affinity", () => (sh(`taskset -p 1 ${world.victim}`).startsWith("0") ? "PWNED" : "refused"));
  process.stdout.write(`${lines.join("\n")}\n`);
  attempt("all", () => process.kill(-1, "SIGKILL"));
  await sleep(300);
}
