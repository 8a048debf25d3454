async function attack(world) {
  for (const host of ["127.0.0.1", "::1", "localhost", "127.0.0.2"]) note(await talk({ host, port: world.answerPort }, "GET /version HTTP/1.1\r\nHost: x\r\n\r\n"));
}
