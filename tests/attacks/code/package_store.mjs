async function attack(world) {
  const victim = `${world.store}/convex/package.json`;
  for (const file of [victim, "node_modules/convex/package.json"]) {
    attempt("write", () => (fs.appendFileSync(file, world.nonce), "written"));
    attempt("hard link", () => (fs.linkSync(fs.realpathSync(file), world.nonce), fs.appendFileSync(world.nonce, "x"), "written"));
    attempt("mode", () => (fs.chmodSync(file, 0o666), "changed"));
    attempt("rename", () => (fs.renameSync(fs.realpathSync(file), world.nonce), "moved"));
  }
  attempt("new file", () => (fs.writeFileSync(`${world.store}/convex/${world.nonce}`, "x"), "written"));
  attempt("new package", () => (fs.mkdirSync(`${world.store}/${world.nonce}`), "made"));
}
