async function attack(world) {
  const places = [world.outside, world.home, world.trials, world.suite, world.cache, world.toolchain, "/usr/lib", "/etc", "/var/tmp", "/opt"];
  for (const place of places) attempt(place, () => (fs.writeFileSync(`${place}/${world.nonce}`, "x"), "written"));
  attempt("append", () => (fs.appendFileSync(`${world.outside}/file.txt`, world.nonce), "written"));
  attempt("truncate", () => (fs.truncateSync(`${world.outside}/file.txt`), "written"));
  attempt("rename", () => (fs.renameSync(`${world.outside}/file.txt`, `${world.outside}/${world.nonce}`), "renamed"));
  attempt("remove", () => (fs.rmSync(`${world.outside}/file.txt`), "removed"));
  attempt("mode", () => (fs.chmodSync(`${world.outside}/file.txt`, 0o600), "changed"));
  attempt("times", () => (fs.utimesSync(`${world.outside}/file.txt`, 0, 0), "changed"));
}
