async function attack(world) {
  // A byte on its way through a socket holds a page of a file that has no name and no length any more.
  note(held(`hold(4, sub { my ($mib) = @_; my ($done, $sent, @k, $a, $b) = (0, 1 << 30);
    open(my $f, "+>", "/tmp/page$$") or die "$!"; my $page = "x" x 4096; my $full = 0;
    while ($done < $mib * 256) { if ($sent) { socketpair($a, $b, AF_UNIX, SOCK_STREAM, 0) or die "pair: $!"; push @k, $a, $b; $a->blocking(0); $sent = 0 }
      sysseek $f, 0, 0; syswrite $f, $page; my $at = pack("q", 0);
      syscall(SENDFILE, fileno($a), fileno($f), $at, 1) == 1 ? $done++ : $k[-1] == $b && $sent++ > 3 ? die("sendfile: $!") : $sent++; truncate $f, 0 }
    keep(@k); return $mib }, ${world.memoryMib} / 8)`, 14));
}
