async function attack(world) {
  note(await talk({ path: world.unixPath }, world.nonce));
  attempt("by link", () => (fs.symlinkSync(world.unixPath, "s.sock"), "linked"));
  note(await talk({ path: "s.sock" }, world.nonce));
}
