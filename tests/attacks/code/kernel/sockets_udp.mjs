async function attack(world) {
  note(held(`hold(8, sub { my ($mib) = @_; my @k; my $done = 0;
    while ($done < $mib << 20) { socket(my $b, AF_INET, SOCK_DGRAM, 0) or die "$!"; bind($b, sockaddr_in(0, INADDR_LOOPBACK)) or die "$!";
      setsockopt($b, SOL_SOCKET, SO_RCVBUF, pack("i", 1 << 30)); socket(my $a, AF_INET, SOCK_DGRAM, 0); my $to = getsockname($b); my $x = "x" x 30000;
      for (1 .. 12) { send($a, $x, 0, $to); $done += 30000 } push @k, $b }
    keep(@k); return $done / (1 << 20) }, ${world.memoryMib})`));
}
