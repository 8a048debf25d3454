/** Ports on which somebody listens: as the system tells it, or else all are tried. */
function candidates() {
  try {
    const lines = ["tcp", "tcp6"].flatMap((name) => fs.readFileSync(`/proc/net/${name}`, "latin1").split("\n").slice(1));
    const listening = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , state]) => state === "0A");
    return [...new Set(listening.map(([, local]) => parseInt(local.split(":")[1], 16)))];
  } catch {
    return Array.from({ length: 51000 }, (_, n) => 10000 + n);
  }
}
async function attack() {
  // The line is held: whoever answers is somebody else.
  const ask = (host, port) =>
    new Promise((resolve) => {
      const socket = net.connect({ host, port }, () => socket.write("GET /version HTTP/1.1\r\nHost: x\r\n\r\n"));
      const done = () => (socket.destroy(), resolve());
      socket.on("data", (data) => (note(`PWNED, somebody answers: ${host} ${port} ${data.toString().slice(0, 40)}`), done()));
      socket.on("error", done);
      socket.setTimeout(700, done);
    });
  const ports = [...candidates(), 8123];
  note(`${ports.length} ports`);
  for (const host of ["127.0.0.1", "::1"])
    for (let from = 0; from < ports.length; from += 1000) await Promise.all(ports.slice(from, from + 1000).map((port) => ask(host, port)));
  await new Promise((resolve) => {
    const socket = dgram.createSocket("udp4", (data) => (note(`PWNED, UDP is answered: ${data}`), resolve()));
    socket.on("error", (error) => resolve(note(`UDP ${error.code}`)));
    setTimeout(resolve, 500);
    try {
      socket.send("hello", 8123, "127.0.0.1", (error) => error && note(`UDP ${error.code}`));
    } catch (error) {
      note(error.code);
    }
    socket.unref();
  });
}
