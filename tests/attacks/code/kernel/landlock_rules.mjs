async function attack(world) {
  // Rulesets that nobody is put under: every port is a rule, and every descriptor has all of them.
  note(held(`hold(2, sub { my ($mib) = @_; my $done = 0;
    while ($done < $mib * 10000) { my $attr = pack("QQQ", 0, 3, 0); my $r = syscall(444, $attr, 24, 0); die "ruleset: $!" if $r < 0;
      for my $port (1 .. 65535) { my $rule = pack("QQ", 3, $port); syscall(445, $r, 2, $rule, 0) == 0 or die "rule: $!"; $done++ } }
    return $mib }, ${world.memoryMib} / 4)`, 14));
}
