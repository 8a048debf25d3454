async function attack(world) {
  for (const host of ["127.0.0.1", "::1", "localhost", "0.0.0.0", "::ffff:127.0.0.1", "127.9.9.9"]) note(await talk({ host, port: world.tcpPort }, world.nonce, "hello "));
}
