async function attack(world) {
  for (const file of [`${world.home}/notes.txt`, `${world.home}/.env`]) attempt(file, () => read(file));
  for (const folder of [world.home, "/root", "/home", "/var/log", "/etc", "/tmp", "/"]) attempt(folder, () => fs.readdirSync(folder));
  for (const file of ["/etc/shadow", "/proc/1/root/etc/shadow", "/proc/self/root/etc/shadow", "/proc/self/mountinfo", "/proc/kcore"])
    attempt(file, () => (file.includes("mountinfo") ? "" : `PWNED ${read(file).length}`));
}
