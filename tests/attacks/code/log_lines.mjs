async function attack(world) {
  for (let n = 0; n < world.logLines; n++) console.log(`::warning::${n}`);
  note("logged");
}
