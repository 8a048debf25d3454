async function attack(world) {
  // Memory that is only read, and only here and there: each look costs a page of tables, and nothing that is resident.
  note(held(`hold(1, sub { sparse(shift) }, ${world.memoryMib})`));
}
