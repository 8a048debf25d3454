async function attack(world) {
  attempt("planted", () => read(`${world.trials}/trial-other/project/notes.txt`));
  attempt("list", () => {
    const others = fs.readdirSync(world.trials).filter((name) => !process.cwd().includes(name));
    return others.map((name) => attempt(name, () => `PWNED, there is ${fs.readdirSync(`${world.trials}/${name}`)}`)).length;
  });
  attempt("write", () => (fs.writeFileSync(`${world.trials}/trial-other/project/${world.nonce}`, "x"), "PWNED"));
}
