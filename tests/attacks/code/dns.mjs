async function attack(world) {
  const resolver = new dns.promises.Resolver({ timeout: 300, tries: 1 });
  resolver.setServers([`127.0.0.1:${world.udpPort}`]);
  for (const ask of [() => resolver.resolve4(`${world.nonce}.test`), () => dns.promises.lookup(`${world.nonce}.test`)]) {
    try {
      note(`PWNED ${JSON.stringify(await ask())}`);
    } catch (error) {
      note(error.code);
    }
  }
}
