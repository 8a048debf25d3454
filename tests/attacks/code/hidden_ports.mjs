async function attack() {
  const open = [];
  const knock = (host, port) =>
    new Promise((resolve) => {
      const socket = net.connect({ host, port }, () => {
        open.push([host, port]);
        socket.destroy();
        resolve();
      });
      socket.on("error", (error) => (socket.destroy(), resolve(void (knock.codes = (knock.codes ?? new Set()).add(error.code)))));
      socket.setTimeout(500, () => (socket.destroy(), resolve()));
    });
  note(`environment ${Object.keys(process.env).filter((name) => name.includes("ANSWER")).map((name) => `PWNED ${name}`)}`);
  for (const host of ["127.0.0.1", "::1", "127.0.0.2", "::ffff:127.0.0.1", "0.0.0.0"])
    for (let from = 20000; from < 30000; from += 500) await Promise.all(Array.from({ length: 500 }, (_, n) => knock(host, from + n)));
  note(`codes ${[...(knock.codes ?? [])]}`);
  for (const [host, port] of open) note(`PWNED, it can be reached: ${host} ${port}`);
}
