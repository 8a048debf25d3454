async function attack() {
  const number = process.arch === "x64" ? 203 : 122;
  // All processors, for itself and for another thread of its own; what comes back is 0, or the number of an error.
  for (const task of [0, "$$"])
    attempt(`sched_setaffinity ${task}`, () => {
      const code = perl(`my $all = "\\xff" x 128; my $r = syscall(${number}, ${task}, 128, $all); print $r >= 0 ? "done" : $! + 0`);
      return code === "done" ? "PWNED, it runs on any processor" : `refused ${code}`;
    });
  attempt("taskset", () => {
    const said = sh(`taskset -p ff $$ >/dev/null 2>&1 && echo moved`);
    return said.includes("moved") ? "PWNED, taskset works" : said;
  });
}
