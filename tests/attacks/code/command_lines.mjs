async function attack(world) {
  const line = (pid) => {
    try {
      return read(`/proc/${pid}/cmdline`);
    } catch {
      return "";
    }
  };
  attempt("victim", () => read(`/proc/${world.victim}/cmdline`));
  attempt("others", () => pids().map(line).join("|").match(/.{0,30}sk-.{0,30}/));
}
