package measure

// Options are everything a person can ask of a trial. This struct declares those that
// tests share, and the struct in Own those of the test alone. The tags give the keys of a
// plan (yaml), the members of a result (json), the flags and their help (flag, short,
// help) and their range (min, max). Which test has which of them is in its [option.Spec].
//
// After [option.Effective] every field that applies holds the value that was
// used; that is what a result keeps.
type Options struct {
	Duration  Duration  `json:"duration_ns,omitempty" yaml:"duration" flag:"duration" short:"t" min:"1000000" max:"86400000000000" help:"how long to measure"`
	Bytes     Size      `json:"bytes,omitempty" yaml:"bytes" flag:"bytes" short:"n" help:"stop after this many bytes, all streams together, instead of a duration"`
	Count     int64     `json:"count,omitempty" yaml:"count" flag:"count" short:"c" max:"1000000000" help:"stop after this many round trips or connections; for trace, rounds; for mtu, packets of a size before it counts as too large" help.latency:"stop after this many round trips" help.ping:"stop after this many round trips; 0: go on until Ctrl-C" help.connect:"stop after this many connections" help.trace:"stop after this many rounds; 0: go on until Ctrl-C" help.mtu:"packets of a size before it counts as too large"`
	Omit      Duration  `json:"omit_ns,omitempty" yaml:"omit" flag:"omit" short:"O" max:"600000000000" help:"run this long before the measurement and omit it from the figures; without it tcp and udp detect the steady part by a stability rule" help.tcp:"run this long before the measurement and omit it from the figures; without it the steady part is detected by a stability rule" help.udp:"run this long before the measurement and omit it from the figures; without it the steady part is detected by a stability rule" help.latency:"run this long before the measurement and omit it from the figures"`
	Interval  Duration  `json:"interval_ns,omitempty" yaml:"interval" flag:"interval" short:"i" min:"100000000" max:"3600000000000" help:"time between live lines; for trace, between rounds" help.tcp:"time between live lines" help.udp:"time between live lines" help.latency:"time between live lines" help.ping:"time between live lines" help.connect:"time between live lines" help.trace:"time between rounds" help.copy:"time between live lines"`
	Direction Direction `json:"direction,omitempty" yaml:"direction" flag:"direction" enum:"forward reverse bidirectional" help:"direction of the bytes: forward, reverse (server sends) or bidirectional"`
	Streams   int       `json:"streams,omitempty" yaml:"streams" flag:"streams" short:"P" min:"1" max:"1024" help:"parallel streams; for connect, connections opened at a time" help.tcp:"parallel streams" help.udp:"parallel streams" help.connect:"connections opened at a time" help.copy:"files copied at a time, each over a connection of its own"`
	Rate      Rate      `json:"rate_bps,omitempty" yaml:"rate" flag:"rate" short:"b" help:"target rate of all streams together, in each direction; 0: no limit"`

	Burst int `json:"burst,omitempty" yaml:"burst" flag:"burst" max:"1000" help:"with --rate: send this many writes or datagrams of a stream back to back, then pause to keep the rate; 0: evenly spaced"`

	TX  string `json:"tx,omitempty" yaml:"tx" flag:"tx" enum:"auto write splice zerocopy sendfile batch gso" help:"send path into the kernel: auto; write; for tcp splice (pages of a pipe), zerocopy (MSG_ZEROCOPY) or sendfile; for udp batch (sendmmsg) or gso (UDP_SEGMENT)" help.tcp:"send path into the kernel: auto; write; splice (pages of a pipe), zerocopy (MSG_ZEROCOPY) or sendfile" help.udp:"send path into the kernel: auto; write; batch (sendmmsg) or gso (UDP_SEGMENT)"`
	RX  string `json:"rx,omitempty" yaml:"rx" flag:"rx" enum:"auto read discard batch gro" help:"receive path out of the kernel: auto; read, as an application does; for tcp discard (payload discarded in the kernel); for udp batch (recvmmsg) or gro (UDP_GRO)" help.tcp:"receive path out of the kernel: auto; read, as an application does; discard (payload discarded in the kernel)" help.udp:"receive path out of the kernel: auto; read, as an application does; batch (recvmmsg) or gro (UDP_GRO)"`
	Pin string `json:"pin,omitempty" yaml:"pin" flag:"pin" bare:"auto" help:"pin each loop that moves packets to one processor (Linux): auto, off, processors such as 2,3 or 0-3 for both ends, or the client's and the server's separated by a slash, 2,3/auto; --pin alone means auto, a value needs --pin=VALUE"`

	Series string `json:"series,omitempty" yaml:"series" flag:"series" enum:"on off" help:"record the counters of both hosts and the state of the sockets every 100 ms in the result: on, off" help.latency:"record the counters of both hosts every 100 ms in the result: on, or off, the default, as each reading may delay a message" help.ping:"record the counters of this host every 100 ms in the result: on, or off, the default, as each reading may delay a reply"`

	Length      Size     `json:"length_bytes,omitempty" yaml:"length" flag:"length" short:"l" min:"0" max:"1048576" help:"bytes per read or write call, if bytes are read or written (0: 1 MiB, with several streams 256 KiB)"`
	Size        Size     `json:"size_bytes,omitempty" yaml:"size" flag:"size" short:"s" max:"65507" help:"payload bytes per datagram or message; for connect, of a request and a reply on each connection, 0: none" help.udp:"payload bytes per datagram" help.latency:"payload bytes per message" help.ping:"payload bytes per request" help.connect:"bytes of a request and a reply on each connection; 0: none" help.mtu:"payload bytes per probe" help.trace:"payload bytes per probe"`
	RequestRate float64  `json:"requests_per_second,omitempty" yaml:"request_rate" flag:"request-rate" max:"10000000" help:"send on a schedule of this many requests or connections per second, independent of replies (open loop); 0: send after the previous reply" help.latency:"send on a schedule of this many requests per second, independent of replies (open loop); 0: send after the previous reply" help.connect:"open on a schedule of this many connections per second, independent of replies (open loop); 0: open after the previous connection"`
	Flows       int      `json:"flows,omitempty" yaml:"flows" flag:"flows" short:"P" min:"1" max:"256" help:"flows, each with its own source port; latency uses them in turn, trace finds the branches of the path" help.latency:"flows, each with its own source port, used in turn" help.trace:"flows, each with its own source port, which find the branches of the path"`
	Timeout     Duration `json:"timeout_ns,omitempty" yaml:"timeout" flag:"timeout" min:"1000000" max:"60000000000" help:"a reply later than this counts as lost"`

	// Own are the options of the test alone: a value of the struct that [option.Spec].Own names,
	// nil for a test without such. They are members of the same object in a document, and
	// stand here in help.
	Own any `json:"-" yaml:"-"`

	Window     Size   `json:"window_bytes,omitempty" yaml:"window" flag:"window" short:"w" max:"1073741824" help:"socket buffer size in each direction; 0: the kernel chooses, except the send queues of fast TCP flows, and UDP receivers get 4 MiB"`
	Congestion string `json:"congestion,omitempty" yaml:"congestion" flag:"congestion" short:"C" help:"TCP congestion control, such as cubic or bbr; empty for the system's default"`
	Multipath  bool   `json:"mptcp,omitempty" yaml:"mptcp" flag:"mptcp" help:"use Multipath TCP (Linux, both ends): one connection over all paths known to both kernels"`
	DSCP       string `json:"dscp,omitempty" yaml:"dscp" flag:"dscp" help:"DiffServ code point: a name (ef, af41, cs1) or 0..63"`
	TOS        int    `json:"tos,omitempty" yaml:"tos" flag:"tos" short:"S" max:"255" help:"the whole type-of-service byte, 0..255"`
	FlowLabel  int    `json:"flow_label,omitempty" yaml:"flow_label" flag:"flow-label" max:"1048575" help:"IPv6 flow label of packets of both ends (Linux), 1..1048575; 0: the kernel chooses"`

	Via            string   `json:"via,omitempty" yaml:"via" flag:"via" enum:"soku iperf3 ethr ntttcp" help:"protocol of the server: soku, iperf3 (tcp, udp), ethr (tcp, udp, latency, connect) or ntttcp (tcp, udp)" help.tcp:"protocol of the server: soku, iperf3, ethr or ntttcp" help.udp:"protocol of the server: soku, iperf3, ethr or ntttcp" help.latency:"protocol of the server: soku or ethr" help.connect:"protocol of the server: soku or ethr" help.copy:"protocol of the server: soku"`
	IPVersion      int      `json:"ip_version,omitempty" yaml:"ip_version" flag:"ip-version" enum:"0 4 6" help:"use only IPv4 (4) or IPv6 (6); also -4 and -6"`
	Bind           string   `json:"bind,omitempty" yaml:"bind" flag:"bind" short:"B" help:"local address to measure from"`
	Device         string   `json:"device,omitempty" yaml:"device" flag:"device" help:"network interface to measure through (Linux)"`
	Port           int      `json:"port,omitempty" yaml:"port" flag:"port" short:"p" max:"65535" help:"port of the server; 0: the protocol's default: soku 7658, iperf3 5201, ethr 8888, ntttcp 5001; for trace and mtu the destination port of probes, 0: 33434 for udp and 443 for tcp" help.tcp:"port of the server; 0: the protocol's default: soku 7658, iperf3 5201, ethr 8888, ntttcp 5001" help.udp:"port of the server; 0: the protocol's default: soku 7658, iperf3 5201, ethr 8888, ntttcp 5001" help.latency:"port of the server; 0: the protocol's default: soku 7658, ethr 8888" help.connect:"port of the server; 0: the protocol's default: soku 7658, ethr 8888" help.copy:"port of the server; 0: 7658" help.trace:"destination port of probes; 0: 33434 for udp, 443 for tcp" help.mtu:"destination port of probes; 0: 33434"`
	ConnectTimeout Duration `json:"connect_timeout_ns,omitempty" yaml:"connect_timeout" flag:"connect-timeout" min:"1000000" max:"600000000000" help:"timeout of an unanswered connection attempt"`

	// unknown are members of a document that this version does not know, as a JSON object;
	// empty for none.
	unknown string
}

// Values of the option series.
const (
	SeriesOn  = "on"
	SeriesOff = "off"
)
