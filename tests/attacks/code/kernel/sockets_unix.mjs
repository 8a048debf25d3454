async function attack(world) {
  note(held(`hold(8, sub { my ($mib) = @_; my @k; my $done = 0;
    while ($done < $mib << 20) { socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die "$!"; $done += fill($a) + fill($b); push @k, $a, $b }
    keep(@k); return $done / (1 << 20) }, ${world.memoryMib})`));
}
