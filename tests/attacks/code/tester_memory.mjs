async function attack() {
  const parents = [];
  for (let pid = process.ppid; pid > 0 && parents.length < 6; ) {
    parents.push(pid);
    try {
      pid = Number(fs.readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1].split(" ")[1]);
    } catch {
      pid = 0;
    }
  }
  note(`parents ${parents}`);
  for (const pid of parents.filter((pid) => !isOwnShell(pid))) {
    attempt(`environ ${pid}`, () => `PWNED ${fs.readFileSync(`/proc/${pid}/environ`).length}`);
    attempt(`mem ${pid}`, () => (fs.closeSync(fs.openSync(`/proc/${pid}/mem`, "r")), "PWNED"));
    attempt(`maps ${pid}`, () => `PWNED ${fs.readFileSync(`/proc/${pid}/maps`).length}`);
    // Their numbers tell nothing: what they lead to must stay out of reach.
    for (const fd of [0, 1, 2, 3, 4, 5, 6, 7]) attempt(`fd ${pid} ${fd}`, () => `PWNED ${fs.readlinkSync(`/proc/${pid}/fd/${fd}`)}`);
    attempt(`cwd ${pid}`, () => `PWNED ${fs.readdirSync(`/proc/${pid}/cwd`)}`);
  }
}
