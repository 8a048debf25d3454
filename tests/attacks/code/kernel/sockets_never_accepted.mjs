async function attack(world) {
  // Data of connections that were closed at one end and never accepted at the other: no process has a descriptor of them.
  note(held(`hold(8, sub { my ($mib) = @_; my @k; my $done = 0; my ($l, $n) = (listener(), 0);
    while ($done < $mib << 20) { if (++$n % 100 == 0) { push @k, $l; $l = listener() }
      my $a = connected($l); $done += fill($a, 5); close $a }
    keep(@k, $l); return $done / (1 << 20) }, ${world.memoryMib})`));
}
