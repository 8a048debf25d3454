async function attack(world) {
  // About a kilobyte of kernel memory each.
  note(held(`hold(4, sub { my ($mib) = @_; my $d = "/tmp/" . $$; mkdir $d or die "$!";
    for my $i (1 .. $mib * 1000) { mkdir "$d/$i" or die "$!" } return $mib }, ${world.memoryMib} / 4)`, 14));
}
