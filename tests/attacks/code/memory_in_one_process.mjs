async function attack(world) {
  const kept = [];
  for (let mib = 0; mib < world.memoryMib; mib += 64) {
    kept.push(Buffer.alloc(64 << 20, 1));
    await sleep(0);
  }
  // Watched twice a second.
  await sleep(1500);
  note(`PWNED, ${kept.length * 64} MiB`);
}
