async function attack() {
  const x64 = process.arch === "x64";
  const calls = { io_uring_setup: [425, 1], bpf: [x64 ? 321 : 280, 0], userfaultfd: [x64 ? 323 : 282, 0], perf_event_open: [x64 ? 298 : 241, 0], keyctl: [x64 ? 250 : 219, 0], add_key: [x64 ? 248 : 217, 0], fsopen: [430, 0], open_tree: [428, 0], setns: [x64 ? 308 : 268, 0], chroot: [x64 ? 161 : 51, 0], mount: [x64 ? 165 : 40, 0], unshare: [x64 ? 272 : 97, 0x10000000], clone3: [435, 0], pivot_root: [x64 ? 155 : 41, 0], kcmp: [x64 ? 312 : 272, 1], open_by_handle_at: [x64 ? 304 : 265, 0] };
  // Refused by the filter: EPERM or ENOSYS, whatever the arguments are; otherwise the kernel looks at them.
  for (const [name, [number, argument]] of Object.entries(calls))
    attempt(name, () => {
      const code = Number(perl(`my $b = "\\0" x 128; my $r = syscall(${number}, ${argument}, $b, 0, 0, 0); print $r >= 0 ? 0 : $! + 0`));
      return code === 1 || code === 38 ? "refused" : `PWNED, answered ${code}`;
    });
}
