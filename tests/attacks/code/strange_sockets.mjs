async function attack() {
  // AX.25, packets, RDS, CAN, Bluetooth, ALG, vsock, XDP; raw TCP/IP and ICMP.
  for (const [family, type] of [[3, 2], [17, 3], [21, 5], [29, 3], [31, 3], [38, 5], [40, 1], [44, 3], [2, 3], [10, 3]])
    attempt(`family ${family}`, () => perl("socket(S, $ARGV[0], $ARGV[1], 0) and print 'PWN', 'ED' or print $!", family, type));
  attempt("fast open", () => perl('use Socket; socket(S, AF_INET, SOCK_STREAM, 0); print send(S, "x", 0x20000000, pack_sockaddr_in($ARGV[0], INADDR_LOOPBACK)) ? "PWN" . "ED" : $!', 9));
}
