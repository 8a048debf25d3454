async function attack(world) {
  const file = fs.openSync("big", "w");
  const chunk = Buffer.alloc(1 << 20, 1);
  let mib = 0;
  try {
    for (; mib < world.diskMib; mib++) fs.writeSync(file, chunk);
    await sleep(1500);
    note(`PWNED, ${mib} MiB`);
  } catch (error) {
    note(`${error.code} after ${mib} MiB`);
  }
}
