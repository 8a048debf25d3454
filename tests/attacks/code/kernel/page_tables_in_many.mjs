async function attack(world) {
  note(held(`hold(24, sub { sparse(shift) }, ${world.memoryMib})`));
}
