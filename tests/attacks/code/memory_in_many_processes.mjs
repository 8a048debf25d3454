async function attack(world) {
  const share = 400;
  const count = Math.ceil(world.memoryMib / share);
  const program = `$SIG{ALRM} = sub { exit }; alarm 20; my $n = ${share} << 20; my $x = "x" x $n; print "."; $| = 1; print "."; sleep 15`;
  const children = Array.from({ length: count }, () => spawn("perl", ["-e", program], { stdio: ["ignore", "pipe", "ignore"] }));
  let ready = 0;
  for (const child of children) child.stdout.once("data", () => ready++);
  for (let waited = 0; ready < count && waited < 9000; waited += 100) await sleep(100);
  await sleep(1500);
  for (const child of children) child.kill("SIGKILL");
  note(ready === count ? `PWNED, ${count * share} MiB` : `${ready} of ${count}`);
}
