async function attack(world) {
  lines.push("harmless".repeat((world.outputMib << 20) / 8));
}
