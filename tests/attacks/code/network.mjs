async function attack(world) {
  if (world.address) note(await talk({ host: world.address, port: world.tcpPort }, world.nonce, "hello "));
  attempt("interfaces", () => Object.entries(os.networkInterfaces()).filter(([name]) => name !== "lo").map(([name]) => `sees ${name}`));
}
