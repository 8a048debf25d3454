async function attack(world) {
  // Terminals are counted for the whole machine.
  note(held(`hold(2, sub { my ($mib) = @_; my @k; for (1 .. 1400) { open(my $f, "+<", "/dev/ptmx") or last; push @k, $f }
    keep(@k); return @k > 1000 ? $mib : 0 }, ${world.memoryMib})`));
}
