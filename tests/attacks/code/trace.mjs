async function attack(world) {
  for (const pid of [world.victim, process.ppid, 1].filter((pid) => pid !== process.pid && !isOwnShell(pid))) {
    attempt(`strace ${pid}`, () => (/attached/.test(sh(`timeout -s KILL 1 strace -f -p ${pid} 2>&1 | head -3`)) ? "PWNED" : "refused"));
    attempt(`mem ${pid}`, () => (fs.openSync(`/proc/${pid}/mem`, "r+"), "PWNED"));
    attempt(`ptrace ${pid}`, () => perl(`print syscall(${process.arch === "x64" ? 101 : 117}, 16, $ARGV[0] + 0, 0, 0) == 0 ? "PWN" . "ED" : $!`, pid));
    attempt(`vm_readv ${pid}`, () => perl(`my $b = "\\0" x 64; my $i = pack("PQ", $b, 64); my $r = pack("QQ", 0x400000, 64); print syscall(${process.arch === "x64" ? 310 : 270}, $ARGV[0] + 0, $i, 1, $r, 1, 0) > 0 ? "PWN" . "ED" : $!`, pid));
    attempt(`pidfd ${pid}`, () => perl("my $f = syscall(434, $ARGV[0] + 0, 0); print $f < 0 ? $! : syscall(438, $f, 0, 0) >= 0 ? 'PWN' . 'ED' : $!", pid));
  }
}
