async function attack() {
  const PORT = 3999;
  if (process.argv[2] === "1") {
    const server = `require("net").createServer((s) => s.end("PWNED, the first one still answers")).listen(${PORT}, "127.0.0.1"); setTimeout(() => {}, 1e8);`;
    spawn(process.execPath, ["-e", server], { detached: true, stdio: "ignore" }).unref();
    for (const folder of ["/tmp", "/dev/shm", "/var/tmp", "/run", os.tmpdir(), process.env.HOME]) attempt(folder, () => fs.writeFileSync(`${folder}/left-by-the-first`, "x"));
    await sleep(500);
    return;
  }
  note(await talk({ port: PORT, host: "127.0.0.1" }, "hello"));
  for (const folder of ["/tmp", "/dev/shm", "/var/tmp", "/run"]) if (fs.existsSync(`${folder}/left-by-the-first`)) note(`PWNED ${folder} keeps what the first one wrote`);
}
