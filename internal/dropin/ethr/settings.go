package ethr

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/wire/ethr"
)

// Settings are the options of a command line.
type Settings struct {
	Help   bool
	Debug  bool // print debug lines
	Server bool
	Once   bool // of a server: end after one test
	Screen bool // of a server: draw over the whole terminal

	Log      string // file, empty for none
	Decimals int
	Version  int // of IP, 0 for either
	Bind     netip.Addr
	Port     int // the server's

	External       bool
	Host           string // of a client
	LocalPort      int    // of the first connection, one more for each further one; 0: the system chooses
	Protocol       string // TCP, UDP or ICMP
	Test           string // b, c, p, l, pi, tr or mtr
	Rate           uint64 // bits a second of each connection
	Duration, Gap  time.Duration
	Rounds, Warmup int
	Length         uint64
	Connections    int // 0 for one a processor
	Quiet          bool
	Reverse        bool
	TOS            int
	Title          string
}

// fail is an error of the command line.
func fail(code string, figures measure.Figures) error {
	return measure.Fail(measure.KindUsage, code, figures)
}

// Parse reads a command line of Ethr, without the program's name. Errors are messages for
// the user.
func Parse(args []string) (Settings, error) {
	set := flag.NewFlagSet("ethr", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	for _, o := range options() {
		if o.toggle() {
			set.Bool(o.name, false, "")
		} else {
			set.String(o.name, "", "")
		}
	}
	err := set.Parse(args)
	v := given{}
	set.Visit(func(f *flag.Flag) { v[f.Name] = f.Value.String() })
	switch {
	case errors.Is(err, flag.ErrHelp), v.has("h"):
		return Settings{Help: true}, nil
	case err != nil:
		return Settings{}, measure.TextError(measure.KindUsage, err.Error(), "")
	case set.NArg() > 0:
		return Settings{}, fail("ethr.option.stray", measure.Figures{"text": set.Arg(0)})
	}
	return v.settings()
}

// given are the options of a command line.
type given map[string]string

// has reports whether an option is there; a toggle that was switched off is not.
func (g given) has(name string) bool { v, ok := g[name]; return ok && v != "false" }

func (g given) or(name, otherwise string) string {
	if v, ok := g[name]; ok {
		return v
	}
	return otherwise
}

func (g given) settings() (s Settings, err error) {
	mode, name := asServer, "-s"
	switch n := count(g.has("s"), g.has("c"), g.has("x")); {
	case n == 0:
		return s, fail("ethr.option.no_role", nil)
	case n > 1:
		return s, fail("ethr.option.several_roles", nil)
	case g.has("c"):
		mode, name = asClient, "-c"
	case g.has("x"):
		mode, name = asExternal, "-x"
	}
	for _, o := range options() {
		if g.has(o.name) && o.modes&mode == 0 {
			return s, fail("ethr.option.other_role", measure.Figures{"option": o.name, "role": name})
		}
	}
	s.Server, s.External, s.Once, s.Screen, s.Debug = mode == asServer, mode == asExternal, g.has("1"), g.has("ui"), g.has("debug")
	s.Host = g["c"] + g["x"]
	if err := g.common(&s); err != nil || s.Server {
		return s, err
	}
	if err := g.client(&s); err != nil {
		return s, err
	}
	return s, s.check()
}

func count(all ...bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

func (g given) common(s *Settings) error {
	if !g.has("no") {
		s.Log = g.or("o", map[bool]string{true: "ethrs.log", false: "ethrc.log"}[s.Server])
	}
	if g.has("4") != g.has("6") {
		s.Version = 4
		if g.has("6") {
			s.Version = 6
		}
	}
	if ip := g["ip"]; ip != "" {
		a, err := netip.ParseAddr(ip)
		if err != nil || s.Version == 4 && !a.Is4() || s.Version == 6 && a.Is4() {
			return fail("ethr.option.ip", measure.Figures{"address": ip})
		}
		s.Bind = a
	}
	return errors.Join(
		g.number("dp", "1", 1, 2, &s.Decimals),
		g.number("port", fmt.Sprint(ethr.Port), 1, math.MaxUint16, &s.Port),
	)
}

func (g given) client(s *Settings) error {
	s.Protocol, s.Test, s.Title = strings.ToUpper(g.or("p", "tcp")), g.or("t", "b"), g["T"]
	if s.External {
		s.Test = g.or("t", "pi")
	}
	s.Quiet, s.Reverse = g.has("ncs"), g.has("r")
	length := "16KB"
	if s.Test == "l" {
		length = "1B"
	}
	err := errors.Join(
		g.size("b", "0", &s.Rate), g.size("l", length, &s.Length),
		g.time("d", "10s", &s.Duration), g.time("g", "1s", &s.Gap),
		g.number("i", "1000", 1, 100_000, &s.Rounds), g.number("w", "1", 0, math.MaxInt32, &s.Warmup),
		g.number("n", "1", 0, 1024, &s.Connections), g.number("cport", "0", 0, math.MaxUint16, &s.LocalPort), g.number("tos", "0", 0, 255, &s.TOS),
	)
	if s.Test == "p" {
		s.Length = 1
	}
	return err
}

func (g given) number(name, otherwise string, least, most int, to *int) error {
	text := g.or(name, otherwise)
	var n int
	if _, err := fmt.Sscanf(text+"\n", "%d\n", &n); err != nil || n < least || n > most {
		return fail("ethr.option.number", measure.Figures{"option": name, "value": text, "least": least, "most": most})
	}
	*to = n
	return nil
}

func (g given) size(name, otherwise string, to *uint64) error {
	text := g.or(name, otherwise)
	n, ok := parseUnit(text)
	if !ok {
		return fail("ethr.option.size", measure.Figures{"option": name, "value": text})
	}
	*to = n
	return nil
}

func (g given) time(name, otherwise string, to *time.Duration) error {
	text := g.or(name, otherwise)
	d, err := time.ParseDuration(text)
	if text == "0" {
		d, err = 0, nil
	}
	if err != nil || d < 0 {
		return fail("ethr.option.time", measure.Figures{"option": name, "value": text})
	}
	*to = d
	return nil
}

// tests are those of each protocol, by the mode.
var tests = map[bool]map[string]string{ // external or not
	false: {"TCP": "b c l pi tr mtr", "UDP": "b p"},
	true:  {"TCP": "c pi tr mtr", "ICMP": "pi tr mtr"},
}

// check refuses tests that do not exist, and options that do not apply to the test.
func (s *Settings) check() error {
	what := s.Protocol + " " + s.Test
	switch {
	case s.Protocol == "ICMP" && !s.External:
		return fail("ethr.option.icmp", nil)
	case !slices.Contains(strings.Fields(tests[s.External][s.Protocol]), s.Test):
		return fail("ethr.option.no_test", measure.Figures{"test": s.Test, "protocol": strings.ToLower(s.Protocol)})
	case s.LocalPort > 0 && (s.Test == "tr" || s.Test == "mtr"):
		return fail("ethr.option.cport_path", measure.Figures{"test": s.Test})
	case s.LocalPort > 0 && s.LocalPort+s.connections()-1 > math.MaxUint16:
		return fail("ethr.option.cport", measure.Figures{"port": s.LocalPort})
	case s.Reverse && what != "TCP b":
		return fail("ethr.option.reverse", nil)
	case s.Rate > 0 && s.Test != "b" && s.Test != "p":
		return fail("ethr.option.rate", nil)
	case s.Length == 0 || s.Protocol == "UDP" && s.Length > 65507 || s.Test == "l" && s.Length > 64<<10 || s.Length > 2_000_000_000:
		return fail("ethr.option.length", nil)
	case s.Duration > 24*time.Hour:
		return fail("ethr.option.duration", measure.Figures{"duration_ns": s.Duration})
	}
	return s.destination()
}

// connections is the number of connections of a test.
func (s *Settings) connections() int {
	if s.Connections == 0 {
		return runtime.NumCPU()
	}
	return s.Connections
}

// destination splits host and port, where -x has both.
func (s *Settings) destination() error {
	host, port := s.Host, ""
	if u, err := url.Parse(s.Host); err == nil && u.Hostname() != "" {
		host, port = u.Hostname(), u.Port()
		if port == "" && s.External {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
	} else if h, p, err := net.SplitHostPort(s.Host); err == nil {
		host, port = h, p
	}
	switch {
	case !s.External && port != "":
		return fail("ethr.option.server_port", measure.Figures{"host": s.Host})
	case s.Protocol == "ICMP":
		port = "0" // it has none
	case s.External && port == "":
		return fail("ethr.option.external_without_port", measure.Figures{"destination": s.Host, "host": host})
	}
	if s.External {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 && s.Protocol != "ICMP" {
			return fail("ethr.option.external_port", measure.Figures{"destination": s.Host, "port": port})
		}
		s.Port = int(n)
	}
	s.Host = host
	return nil
}
