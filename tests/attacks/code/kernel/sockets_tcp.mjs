async function attack(world) {
  const ports = world.ports;
  note(held(`hold(8, sub { my ($mib) = @_; my @k; my $done = 0; my $l = listener();
    while ($done < $mib << 20) { my ($a, $b) = (connected($l)); accept($b, $l) or die "accept: $!"; $done += fill($a) + fill($b); push @k, $a, $b }
    keep(@k, $l); return $done / (1 << 20) }, ${world.memoryMib})`));
}
