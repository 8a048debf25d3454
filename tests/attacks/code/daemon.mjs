async function attack(world) {
  const script = `setTimeout(() => require("fs").writeFileSync(${JSON.stringify(world.outside)} + "/${world.nonce}", "alive"), 4000); setTimeout(() => {}, 60000)`;
  attempt("detached", () => (spawn(process.execPath, ["-e", script, world.nonce], { detached: true, stdio: "ignore" }).unref(), "started"));
  attempt("twice", () => sh(`setsid sh -c '(exec -a ${world.nonce} sleep 61 ; true) & (sh -c "sleep 62 # ${world.nonce}" &) &' >/dev/null 2>&1 &`));
  attempt("perl", () => perl("use POSIX; if (!fork) { setsid(); POSIX::setpgid(0, 0); if (!fork) { close(STDOUT); close(STDERR); sleep 60 } exit } print 'forked'", world.nonce));
}
