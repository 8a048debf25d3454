async function attack(world) {
  fs.symlinkSync(world.outside, "out");
  attempt("folder", () => (fs.writeFileSync(`out/${world.nonce}`, "x"), "written"));
  attempt("file", () => (fs.symlinkSync(`${world.outside}/file.txt`, "file"), fs.writeFileSync("file", world.nonce), "written"));
  attempt("dangling", () => (fs.symlinkSync(`${world.outside}/${world.nonce}`, "new"), fs.writeFileSync("new", "x"), "written"));
  attempt("root", () => (fs.symlinkSync("/proc/self/root", "root"), fs.writeFileSync(`root${world.outside}/${world.nonce}`, "x"), "written"));
}
