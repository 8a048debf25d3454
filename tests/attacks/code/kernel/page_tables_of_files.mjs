async function attack(world) {
  // The same few MB of a library, mapped over and over.
  const file = `${world.toolchain}/typescript/lib/typescript.js`;
  note(held(`hold(8, sub { my ($mib) = @_; open(my $f, "<", "${file}") or die "$!"; my $size = -s $f; my $done = 0;
    my $tables = int($size / (2 << 20)) + 1;
    while ($done < $mib * 256) { my $a = syscall(MMAP, 0, $size, 1, 2, fileno($f), 0); die "$!" if $a == -1;
      for (my $at = 0; $at < $size; $at += 2 << 20) { look($a + $at) } $done += $tables }
    return $mib }, ${world.memoryMib})`));
}
