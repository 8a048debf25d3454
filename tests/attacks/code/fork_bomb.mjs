async function attack(world) {
  let started = 0;
  let refused = 0;
  const program = `my $n = 0; while ($n < ${world.forks}) { my $p = fork(); if (!defined $p) { last } if (!$p) { close(STDOUT); close(STDERR); sleep 30; exit } $n++ } print $n`;
  try {
    started = Number(perl(program));
  } catch (error) {
    refused = 1;
    note(`${error.code} ${String(error.message).slice(0, 80)}`);
  }
  note(started >= world.forks ? `PWNED, ${started} processes` : `${started} processes ${refused}`);
}
