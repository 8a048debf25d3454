async function attack(world) {
  const chunk = "harmless ".repeat(1 << 17);
  for (let mib = 0; mib < world.outputMib; mib++) if (!process.stdout.write(chunk)) await new Promise((go) => process.stdout.once("drain", go));
  for (let mib = 0; mib < world.outputMib / 4; mib++) fs.writeSync(2, chunk);
}
