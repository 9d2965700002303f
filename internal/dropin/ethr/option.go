package ethr

// Modes in which an option has a meaning.
const (
	asServer = 1 << iota
	asClient
	asExternal
	clients = asClient | asExternal
	all     = asServer | clients
)

// flagOption is a row of the table of options.
type flagOption struct {
	name, value, help string
	modes             int
}

// options are those of Ethr 1.0.0 and of December 2025, in the order of help.
func options() []flagOption {
	return []flagOption{
		{"h", "", "help", all},
		{"no", "", "write no log file", all},
		{"o", "FILE", "log file; ethrs.log of a server, ethrc.log of a client", all},
		{"debug", "", "more lines, for who looks for a fault", all},
		{"4", "", "IPv4 only", all},
		{"6", "", "IPv6 only", all},
		{"dp", "1|2", "decimals of a rate, 1", all},
		{"ip", "ADDRESS", "local address", all},
		{"port", "PORT", "port of the server, TCP and UDP, 8888", asServer | asClient},
		{"s", "", "be a server", asServer},
		{"ui", "", "draw the server's tables over the whole terminal", asServer},
		{"1", "", "serve one test and end", asServer},
		{"c", "HOST", "measure against an Ethr server", asClient},
		{"x", "HOST:PORT|URL", "measure against anything that listens", asExternal},
		{"b", "RATE", "bits a second of each connection: 100, 64K, 10M, 1G", asClient},
		{"cport", "PORT", "local port of the first connection, others count up; 0 any", clients},
		{"d", "TIME", "how long, 10s; 0 until interrupted", clients},
		{"g", "TIME", "from one measurement to the next of -t l, pi and mtr, 1s", clients},
		{"i", "COUNT", "round trips of one measurement of -t l, 1000", asClient},
		{"l", "LENGTH", "bytes of a write, a datagram or a message: 16KB, of -t l 1B", asClient},
		{"n", "COUNT", "connections, 1; 0 one a processor", clients},
		{"ncs", "", "no line for each connection", asClient},
		{"p", "tcp|udp|icmp", "protocol, tcp; icmp with -x", clients},
		{"r", "", "the server sends (TCP bandwidth)", asClient},
		{"t", "TEST", "bandwidth b, connects c, packets p, latency l, pi, tr, mtr", clients},
		{"tos", "BYTE", "type of service", clients},
		{"w", "COUNT", "pings of -t pi before those that count, 1", clients},
		{"T", "TITLE", "title in the log file", clients},
	}
}

// toggle reports whether the option has no value.
func (o flagOption) toggle() bool { return o.value == "" }
