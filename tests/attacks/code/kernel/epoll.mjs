async function attack(world) {
  // Each of many descriptors, watched by each of many others: about 200 bytes for every pair of them.
  note(held(`hold(2, sub { my ($mib) = @_; my @k; my @e; my $done = 0;
    for (1 .. 1500) { pipe(my $r, my $w); push @k, $r; close $w if @k > 1; push @k, $w if @k == 1 }
    while ($done < $mib * 5000) { my $e = syscall(EPOLL_CREATE1, 0); die "epoll: $!" if $e < 0;
      for my $f (@k) { my $event = pack("Lq", 1, 0); syscall(EPOLL_CTL, $e, 1, fileno($f), $event) == 0 or die "ctl: $!"; $done++ } }
    keep(@k); return $mib }, ${world.memoryMib} / 4)`, 14));
}
