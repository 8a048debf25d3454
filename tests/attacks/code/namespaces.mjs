async function attack(world) {
  // Where it goes by root's number, that number is nothing to gain.
  const another = process.getuid() === 0 ? 1 : 0;
  for (const command of ["unshare -Ur id -u", "unshare -Urm sh -c 'mount -t tmpfs x /mnt && echo in'", "unshare -rn true", "unshare -Urpf true", "bwrap --ro-bind / / true", "mount -t tmpfs x /mnt", "mount --bind / /mnt", "umount /proc", "nsenter -t 1 -a true", "chroot / true", "su -c id", "sudo -n id", `setpriv --reuid ${another} id`, "hostname pwned"])
    attempt(command, () => (sh(command).startsWith("0") ? "PWNED" : "refused"));
}
