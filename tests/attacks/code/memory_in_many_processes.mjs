async function attack(world) {
  const share = 400;
  const count = Math.ceil(world.memoryMib / share);
  const program = `$SIG{ALRM} = sub { exit }; alarm 20; my $n = ${share} << 20; my $x = "x" x $n; sleep 15`;
  const children = Array.from({ length: count }, () => spawn("perl", ["-e", program], { stdio: "ignore" }));
  const resident = () => {
    let pages = 0;
    for (const { pid } of children)
      try {
        pages += Number(fs.readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
      } catch {
        // It is gone.
      }
    return Math.round(pages / 256);
  };
  const wanted = world.memoryMib * 0.95;
  for (let waited = 0; resident() < wanted && waited < 9000; waited += 100) await sleep(100);
  // Whoever looks twice a second must have seen it by then.
  await sleep(1500);
  const mib = resident();
  for (const child of children) child.kill("SIGKILL");
  note(mib >= wanted ? `PWNED, ${mib} MiB` : `${mib} MiB`);
}
