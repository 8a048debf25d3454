async function attack(world) {
  attempt("victim", () => read(`/proc/${world.victim}/cmdline`));
  attempt("others", () => pids().map((pid) => read(`/proc/${pid}/cmdline`)).join("|").match(/.{0,30}sk-.{0,30}/));
}
