async function attack(world) {
  for (const host of ["127.0.0.1", world.address].filter(Boolean)) {
    await new Promise((resolve) => {
      try {
        const socket = dgram.createSocket("udp4");
        socket.on("error", (error) => (note(error.code), resolve()));
        socket.send(world.nonce, world.udpPort, host, (error) => (note(`${host} ${error?.code ?? "sent"}`), socket.close(resolve)));
      } catch (error) {
        note(error.code);
        resolve();
      }
    });
  }
}
