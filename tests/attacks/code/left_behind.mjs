async function attack() {
  // System V shared memory, semaphores and queues outlive their makers.
  const x64 = process.arch === "x64";
  for (const [name, number, rest] of [["shmget", x64 ? 29 : 194, "4096, 0600 | 01000"], ["semget", x64 ? 64 : 190, "1, 0600 | 01000"], ["msgget", x64 ? 68 : 186, "0600 | 01000"]])
    attempt(name, () => perl(`my $r = syscall(${number}, 0x${process.pid.toString(16).padStart(6, "7")}, ${rest}); print $r >= 0 ? "made" : $!`));
}
