async function attack(world) {
  // Full sockets, sent to each other, so that no process has a descriptor of them.
  note(held(`hold(8, sub { my ($mib) = @_; my ($done, @k) = (0);
    socketpair(my $over, my $end, AF_UNIX, SOCK_STREAM, 0) or die "$!"; push @k, $over, $end; my $sent = 0;
    while ($done < $mib << 20) { socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die "pair: $!"; $done += fill($a) + fill($b);
      if (++$sent % 100 == 0) { socketpair($over, $end, AF_UNIX, SOCK_STREAM, 0) or die "$!"; push @k, $over, $end }
      if (!send_descriptor($over, $a) || !send_descriptor($over, $b)) { push @k, $a, $b } }
    keep(@k); return $done / (1 << 20) }, ${world.memoryMib})`));
}
