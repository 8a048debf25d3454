async function attack(world) {
  // Stacks of threads that sleep, all of them written to.
  const { Worker } = await import("node:worker_threads");
  const source = "function deep(n) { const a = new Array(60).fill(n); return n === 0 ? a.length : a.length + deep(n - 1); } deep(20000); setTimeout(() => {}, 30000)";
  let alive = 0;
  const each = 24;
  for (let n = 0; n * each < world.memoryMib; n++) {
    const worker = new Worker(source, { eval: true, resourceLimits: { stackSizeMb: 20 }, env: {} });
    worker.on("online", () => alive++).on("error", () => alive--).on("exit", () => alive--);
    if (n % 10 === 0) await sleep(200);
  }
  await sleep(2500);
  note(alive * each >= world.memoryMib ? `PWNED, ${alive} threads` : `${alive} threads`);
}
