async function attack(world) {
  attempt("key", () => read(`${world.home}/.ssh/id_ed25519`));
  attempt("by link", () => (fs.symlinkSync(`${world.home}/.ssh/id_ed25519`, "key"), read("key")));
  attempt("by cat", () => sh(`cat ${world.home}/.ssh/id_ed25519 ~root/.ssh/*`));
}
