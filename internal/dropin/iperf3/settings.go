package iperf3

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// Roles of the program.
const (
	Client = "client"
	Server = "server"
)

// Limits and defaults of iperf3 (iperf.h and iperf_api.h of version 3.21).
const (
	usualPort      = 5201
	usualBlock     = 128 << 10
	usualDatagram  = 1460
	usualUDPRate   = 1 << 20
	mostBlock      = 1 << 20
	fewestDatagram = 16
	mostDatagram   = 65507
	mostTime       = 86400
	mostOmit       = 600
	mostStreams    = 128
	mostMSS        = 32<<10 - 1
	mostBuffer     = 512 << 20
	leastInterval  = 0.1
	mostInterval   = 60
)

// Settings are what a command line asks for. A zero member was not asked for,
// but for those with a default.
type Settings struct {
	Role      string // Client, Server, or empty
	Host      string // of the server
	Port      int
	Bind      string
	Device    string
	IPVersion int // 0, 4 or 6

	Format          byte // of rates; 'a' picks one
	Interval        float64
	PIDFile         string
	Verbose         bool
	JSON            bool
	Stream          bool // JSON a line an event
	StreamFull      bool
	LogFile         string
	ForceFlush      bool
	Timestamps      string // strftime; empty: none
	Title           string
	ExtraData       string
	GetServerOutput bool
	ShowHelp        bool
	ShowVersion     bool
	NoFQPacing      bool

	OneOff      bool
	Daemon      bool
	RateLimit   int64  // bits a second
	MaxDuration int    // seconds
	IdleTimeout int    // seconds; 0: none
	PrivateKey  string // file
	Users       string // file
	Skew        int    // seconds; 0: the usual
	PKCS1       bool

	UDP            bool
	Rate           int64 // bits a second of one stream
	Time           int   // seconds
	Bytes          int64
	Blocks         int64
	Length         int64 // 0: as the path has room for, UDP only
	Streams        int
	Reverse        bool
	Bidir          bool
	Window         int64
	Congestion     string
	MSS            int
	NoDelay        bool
	TOS            int
	ZeroCopy       bool
	SkipRxCopy     bool
	GSRO           bool
	Omit           int // seconds
	Counters64     bool
	ConnectTimeout int // milliseconds
	Affinity       int // processor; -1: any
	ServerAffinity int // likewise
	Username       string
	PublicKey      string // file
}

func defaults() *Settings {
	return &Settings{Port: usualPort, Format: 'a', Interval: 1, Time: 10, Streams: 1, Affinity: -1, ServerAffinity: -1}
}

// Setters of the table of options.

func toggle(field func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, _ string) error { *field(s) = true; return nil }
}

func text(field func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error { *field(s) = v; return nil }
}

// integer reads the number at the start of v, as atoi(3) does; nothing that is no
// number becomes 0 here.
func integer(v string) (int, bool) {
	v = strings.TrimSpace(v)
	n := 0
	for n < len(v) && (v[n] >= '0' && v[n] <= '9' || n == 0 && (v[n] == '-' || v[n] == '+')) {
		n++
	}
	i, err := strconv.ParseInt(v[:n], 10, 32)
	return int(i), err == nil
}

// bounded sets an integer between least and most; wrong is iperf3's sentence.
func bounded(field *int, v string, least, most int, wrong string, args ...any) error {
	n, ok := integer(v)
	if !ok || n < least || n > most {
		return problem(wrong, args...)
	}
	*field = n
	return nil
}

func port(s *Settings, v string) error {
	return bounded(&s.Port, v, 1, 65535, "port number must be between 1 and 65535 inclusive")
}

func format(s *Settings, v string) error {
	if v == "" || !strings.Contains("kmgtKMGT", v[:1]) {
		return problem("bad format specifier (valid formats are in the set [kmgtKMGT])")
	}
	s.Format = v[0]
	return nil
}

func interval(s *Settings, v string) error {
	f, _, ok := number(v)
	if !ok || f != 0 && (f < leastInterval || f > mostInterval) {
		return problem("invalid report interval (min = %g, max = %g seconds)", leastInterval, float64(mostInterval))
	}
	s.Interval = f
	return nil
}

func jsonStream(s *Settings, _ string) error {
	s.JSON, s.Stream = true, true
	return nil
}

func timestamps(s *Settings, v string) error {
	if v == "" {
		v = "%c "
	}
	if bad := unknownConversion(v); bad != "" {
		return problem("--timestamps: %q is not known", bad).WithHint("see docs/reference/soku-iperf3.md for those that are")
	}
	s.Timestamps = v
	return nil
}

func affinity(s *Settings, v string) error {
	const wrong = "unable to set CPU affinity"
	own, server, two := strings.Cut(v, ",")
	if err := bounded(&s.Affinity, own, 0, 1024, wrong); err != nil || !two {
		return err
	}
	return bounded(&s.ServerAffinity, server, 0, 1024, wrong)
}

// bind takes an address, with an interface after "%" unless that is the zone of
// a link-local address.
func bind(s *Settings, v string) error {
	s.Bind, s.Device = withDevice(v, s.Device)
	return nil
}

func withDevice(v, device string) (address, dev string) {
	a, d, ok := strings.Cut(v, "%")
	if ip, err := netip.ParseAddr(a); !ok || err == nil && ip.Is6() && ip.IsLinkLocalUnicast() {
		return v, device
	}
	return a, d
}

func beServer(s *Settings, _ string) error {
	if s.Role == Client {
		return problem("cannot be both server and client")
	}
	s.Role = Server
	return nil
}

func beClient(s *Settings, v string) error {
	if s.Role == Server {
		return problem("cannot be both server and client")
	}
	s.Role = Client
	s.Host, s.Device = withDevice(v, s.Device)
	return nil
}

func bitrateLimit(s *Settings, v string) error {
	if _, _, averaged := strings.Cut(v, "/"); averaged {
		return problem("--server-bitrate-limit %s: the time to average over is not supported by soku", v).WithHint("leave it out: it is 5 seconds")
	}
	n, err := rate(v)
	s.RateLimit = n
	return err
}

func maxDuration(s *Settings, v string) error {
	return bounded(&s.MaxDuration, v, 0, mostTime, "test duration valid values are 0 to %d seconds", mostTime)
}

func idleTimeout(s *Settings, v string) error {
	return bounded(&s.IdleTimeout, v, 1, mostTime, "idle timeout parameter is not positive or larger than allowed limit")
}

func skew(s *Settings, v string) error {
	return bounded(&s.Skew, v, 1, math.MaxInt32, "skew threshold must be a positive number")
}

func connectTimeout(s *Settings, v string) error {
	n, err := amount(v)
	if err == nil && n > 600_000 {
		return problem("--connect-timeout %s: more than 600000 ms is not supported by soku", v)
	}
	s.ConnectTimeout = int(n)
	return err
}

func bitrate(s *Settings, v string) error {
	if _, _, burst := strings.Cut(v, "/"); burst {
		return problem("--bitrate %s: a burst is not supported by soku: sends are spread evenly", v)
	}
	n, err := rate(v)
	s.Rate = n
	return err
}

func duration(s *Settings, v string) error {
	if err := bounded(&s.Time, v, 0, mostTime, "test duration valid values are 0 to %d seconds", mostTime); err != nil {
		return err
	}
	if s.Time == 0 {
		return problem("--time 0, for a test without an end, is not supported by soku").WithHint("the longest is --time %d", mostTime)
	}
	return nil
}

func bytesToMove(s *Settings, v string) (err error) { s.Bytes, err = amount(v); return err }

func blocks(s *Settings, v string) (err error) { s.Blocks, err = amount(v); return err }

func length(s *Settings, v string) (err error) { s.Length, err = amount(v); return err }

func streams(s *Settings, v string) error {
	return bounded(&s.Streams, v, 1, mostStreams, "invalid number of parallel streams (min = 1, max = %d)", mostStreams)
}

func reverse(s *Settings, _ string) error {
	if s.Bidir {
		return problem("cannot be both reverse and bidirectional")
	}
	s.Reverse = true
	return nil
}

func bidir(s *Settings, _ string) error {
	if s.Reverse {
		return problem("cannot be both reverse and bidirectional")
	}
	s.Bidir = true
	return nil
}

func window(s *Settings, v string) error {
	n, err := amount(v)
	if err == nil && n > mostBuffer {
		return problem("socket buffer size too large (maximum = %d bytes)", mostBuffer)
	}
	s.Window = n
	return err
}

func mss(s *Settings, v string) error {
	return bounded(&s.MSS, v, 0, mostMSS, "TCP MSS too large (maximum = %d bytes)", mostMSS)
}

func omit(s *Settings, v string) error {
	return bounded(&s.Omit, v, 0, mostOmit, "bogus value for --omit (maximum = %d seconds)", mostOmit)
}

func tos(s *Settings, v string) error {
	n, err := strconv.ParseInt(cPrefix(v), 0, 32)
	if err != nil || n < 0 || n > 255 {
		return problem("bad TOS value (must be between 0 and 255 inclusive)")
	}
	s.TOS = int(n)
	return nil
}

// cPrefix is v without the octal prefix that only Go knows.
func cPrefix(v string) string {
	if len(v) > 1 && v[0] == '0' && (v[1] == 'o' || v[1] == 'O' || v[1] == 'b' || v[1] == 'B') {
		return ""
	}
	return v
}

func dscp(s *Settings, v string) error {
	if n, ok := serviceByName(strings.ToLower(v)); ok {
		s.TOS = n
		return nil
	}
	n, err := strconv.ParseInt(cPrefix(v), 0, 32)
	if err != nil || n < 0 || n > 63 {
		return problem("bad DSCP value (numeric: 0-63 inclusive, symbolic: one of [af11-13, af21-23, af31-33, af41-43, cs1-7, ef, va, lowdelay, throughput, reliability])")
	}
	s.TOS = int(n) << 2
	return nil
}

// serviceByName is the type-of-service byte of a code point (RFC 2474, 2597,
// 3246, 5865) or of the older words of RFC 1349.
func serviceByName(name string) (int, bool) {
	switch name {
	case "ef":
		return 46 << 2, true
	case "va":
		return 44 << 2, true
	case "lowdelay":
		return 0x10, true
	case "throughput":
		return 0x08, true
	case "reliability":
		return 0x04, true
	}
	if len(name) == 3 && name[:2] == "cs" && name[2] >= '0' && name[2] <= '7' {
		return int(name[2]-'0') << 5, true
	}
	if len(name) == 4 && name[:2] == "af" && name[2] >= '1' && name[2] <= '4' && name[3] >= '1' && name[3] <= '3' {
		return int(name[2]-'0')<<5 | int(name[3]-'0')<<3, true
	}
	return 0, false
}

// blocksOf is how many bytes so many blocks are, as far as an int64 goes.
func blocksOf(blocks, length int64) int64 {
	if length > 0 && blocks > math.MaxInt64/length {
		return math.MaxInt64
	}
	return blocks * length
}
