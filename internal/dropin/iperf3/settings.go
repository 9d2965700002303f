package iperf3

import (
	"cmp"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"soku/internal/measure"
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
	mostBurst      = 1000
	mostMSS        = 32<<10 - 1
	mostBuffer     = 512 << 20
	leastInterval  = 0.1
	mostInterval   = 60
)

// Settings are the options of a command line. A zero member was not given, unless it has
// a default.
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
	File            string // to send, or to write received bytes to
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
	Debug           int // level, 0: none

	OneOff      bool
	Daemon      bool
	RateLimit   int64         // bits a second
	RateOver    time.Duration // that RateLimit is averaged over; 0: the usual, below: not at all
	MaxDuration int           // seconds
	IdleTimeout int           // seconds; 0: none
	PrivateKey  string        // file
	Users       string        // file
	Skew        int           // seconds; 0: the usual
	PKCS1       bool

	UDP            bool
	Rate           int64 // bits a second of one stream
	TimeGiven      bool
	Burst          int // writes or datagrams back to back
	Time           int // seconds
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
	Repeating      bool
	GSRO           bool
	Omit           int // seconds
	Counters64     bool
	ConnectTimeout int        // milliseconds
	RcvTimeout     int        // milliseconds
	SndTimeout     int        // milliseconds; 0: the system's
	KeepAlive      *keepAlive // nil: soku's own
	FQRate         int64      // bits a second of one stream; 0: no limit
	PacingTimer    int        // microseconds; 0: the default, -1: none
	ClientPort     int        // 0: any
	Affinity       int        // processor; -1: any
	ServerAffinity int        // same, on the server
	Username       string
	PublicKey      string // file
	Multipath      bool
	FlowLabel      int // 0: the kernel's
	DontFragment   bool
}

func defaults() *Settings {
	return &Settings{Port: usualPort, Format: 'a', Interval: 1, Time: 10, Streams: 1, Affinity: -1, ServerAffinity: -1, RcvTimeout: usualSilence}
}

// Setters of the table of options.

func toggle(field func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, _ string) error { *field(s) = true; return nil }
}

func text(field func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error { *field(s) = v; return nil }
}

// choice sets what an option without an argument chooses.
func choice(set func(*Settings)) func(*Settings, string) error {
	return func(s *Settings, _ string) error { set(s); return nil }
}

// whole takes an integer between least and most; wrong is iperf3's message.
func whole(field func(*Settings) *int, least, most int, wrong string, args ...any) func(*Settings, string) error {
	return func(s *Settings, v string) error { return bounded(field(s), v, least, most, wrong, args...) }
}

// measured takes a number with a suffix, as read reads it.
func measured(field func(*Settings) *int64, read func(string) (int64, error)) func(*Settings, string) error {
	return func(s *Settings, v string) (err error) { *field(s), err = read(v); return err }
}

// oneOf is toggle for two options that exclude each other.
func oneOf(field, other func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, _ string) error {
		if *other(s) {
			return problem("cannot be both reverse and bidirectional")
		}
		*field(s) = true
		return nil
	}
}

// integer reads the number at the start of v as atoi(3) does, but refuses an invalid
// number instead of returning 0.
func integer(v string) (int, bool) {
	v = strings.TrimSpace(v)
	n := 0
	for n < len(v) && (v[n] >= '0' && v[n] <= '9' || n == 0 && (v[n] == '-' || v[n] == '+')) {
		n++
	}
	i, err := strconv.ParseInt(v[:n], 10, 32)
	return int(i), err == nil
}

// bounded sets an integer between least and most; wrong is iperf3's message.
func bounded(field *int, v string, least, most int, wrong string, args ...any) error {
	n, ok := integer(v)
	if !ok || n < least || n > most {
		return problem(wrong, args...)
	}
	*field = n
	return nil
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

func timestamps(s *Settings, v string) error {
	v = cmp.Or(v, "%c ")
	if bad := unknownConversion(v); bad != "" {
		return fail("iperf3.option.timestamps", measure.Figures{"text": bad})
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

func beServer(s *Settings, _ string) error { return s.be(Server) }

func beClient(s *Settings, v string) error {
	s.Host, s.Device = withDevice(v, s.Device)
	return s.be(Client)
}

func (s *Settings) be(role string) error {
	if s.Role != "" && s.Role != role {
		return problem("cannot be both server and client")
	}
	s.Role = role
	return nil
}

func connectTimeout(s *Settings, v string) error {
	n, err := amount(v)
	if err == nil && n > 600_000 {
		return fail("iperf3.option.connect_timeout", measure.Figures{"value": v})
	}
	s.ConnectTimeout = int(n)
	return err
}

func bitrate(s *Settings, v string) error {
	v, burst, bursts := strings.Cut(v, "/")
	if bursts {
		if err := bounded(&s.Burst, burst, 1, mostBurst, "invalid burst count (maximum = %d)", mostBurst); err != nil {
			return err
		}
	}
	n, err := rate(v)
	s.Rate = n
	return err
}

func duration(s *Settings, v string) error {
	s.TimeGiven = true
	switch strings.ToLower(v) { // iperf3 takes words for 0, which is no end
	case "inf", "infinite", "infinity":
		v = "0"
	}
	return bounded(&s.Time, v, 0, mostTime, wrongTime, mostTime)
}

func pacingTimer(s *Settings, v string) error {
	n, err := amount(v)
	if err == nil && n > math.MaxInt32 {
		return fail("iperf3.option.pacing_timer", measure.Figures{"value": v})
	}
	if s.PacingTimer = int(n); n == 0 {
		s.PacingTimer = -1
	}
	return err
}

func window(s *Settings, v string) error {
	n, err := amount(v)
	if err == nil && n > mostBuffer {
		return problem("socket buffer size too large (maximum = %d bytes)", mostBuffer)
	}
	s.Window = n
	return err
}

// blocksOf is the number of bytes of this many blocks, limited to an int64.
func blocksOf(blocks, length int64) int64 {
	if length > 0 && blocks > math.MaxInt64/length {
		return math.MaxInt64
	}
	return blocks * length
}
