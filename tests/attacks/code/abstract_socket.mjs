async function attack(world) {
  const program = 'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die "$!"; connect(S, pack("Sa*", AF_UNIX, "\\0$ARGV[0]")) or die "$!"; syswrite(S, $ARGV[1]); print "PWN" . "ED"';
  attempt("abstract", () => perl(program, world.abstractName, world.nonce));
}
