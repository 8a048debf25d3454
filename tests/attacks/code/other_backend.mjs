async function attack(world) {
  note(await talk({ host: "127.0.0.1", port: world.otherPort }, `GET /version HTTP/1.1\r\nHost: ${world.nonce}\r\n\r\n`));
  note(await talk({ path: world.otherControl }, `GET /version HTTP/1.1\r\nHost: ${world.nonce}\r\n\r\n`));
}
