async function attack(world) {
  const chunk = Buffer.alloc(16 << 20, 1);
  const folders = [".", "/tmp", "/dev", "/dev/shm", "/run", "/", process.env.HOME, "/var/tmp"];
  let mib = 0;
  for (const folder of folders)
    try {
      for (let n = 0; mib < world.diskMib * 2; n++, mib += 16) fs.writeFileSync(`${folder}/${world.nonce}-${n}`, chunk);
    } catch (error) {
      note(`${folder} ${error.code}`);
    }
  await sleep(1500);
  note(mib >= world.diskMib * 2 ? `PWNED, ${mib} MiB` : `${mib} MiB`);
}
