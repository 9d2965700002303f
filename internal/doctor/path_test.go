package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/text"
)

// reached is a healthy host before a path on which every check can look and finds nothing.
func reached() *Subject {
	s := healthy()
	s.Facts.Sysctl[mtuProbing] = "0"
	s.Path = &Path{
		Host: "vm2", Address: "10.0.0.2", MTU: &measure.PathMTU{Bytes: 1500, InterfaceBytes: 1500, Limit: measure.LimitInterface},
		Offset: &Offset{LeastNs: -900e6, MostNs: 101e6},
	}
	return s
}

// failed is a path on which the short test failed, with echo requests answered or not.
func failed(kind measure.Kind, code string, echoes int64) func(*Subject) {
	return func(s *Subject) {
		s.Path.Err, s.Path.Echo = &measure.Error{Kind: kind, Code: code, Message: "why"}, &Echo{Received: echoes}
	}
}

func smaller(limit string, locked bool) func(*Subject) {
	return func(s *Subject) {
		s.Path.MTU = &measure.PathMTU{Bytes: 1400, InterfaceBytes: 9000, RouteBytes: 1500, RouteLocked: locked, Limit: limit, After: &measure.MTUHop{Hop: 2, Address: "10.0.0.1"}}
	}
}

func noMTU(kind measure.Kind) func(*Subject) {
	return func(s *Subject) { s.Path.MTU, s.Path.MTUErr = nil, &measure.Error{Kind: kind} }
}

func TestAGoodPathHasNoFinding(t *testing.T) {
	if end := Examine(PathChecks, reached()); len(end.Passed) != len(PathChecks) {
		t.Errorf("%+v", end)
	}
}

func TestEachTroubleOfAPathIsFound(t *testing.T) {
	const unreachable = measure.KindUnreachable
	for name, c := range map[string]struct {
		code       string
		spoil      func(*Subject)
		want       Severity
		confidence measure.Confidence
		not        Reason
		says       string // part of the sentence
		command    string
	}{
		"no name":         {code: "port", spoil: failed(unreachable, "dns.not_found", 0), want: Problem, confidence: measure.High, says: "why: nothing can be measured by this name", command: "getent hosts vm2"},
		"refused":         {code: "port", spoil: failed(unreachable, "dial.refused", 3), want: Problem, confidence: measure.High, says: "refuses TCP 7658: nothing listens there", command: "soku server"},
		"filtered":        {code: "port", spoil: failed(unreachable, "dial.no_answer", 3), want: Problem, confidence: measure.High, says: "a firewall or security group drops it", command: "soku trace vm2 --probe tcp --port 7658"},
		"off or filtered": {code: "port", spoil: failed(unreachable, "dial.no_answer", 0), want: Problem, confidence: measure.Medium, says: "nor do echo requests: the host is off"},
		"not asked": {code: "port", spoil: func(s *Subject) {
			failed(unreachable, "dial.no_answer", 0)(s)
			s.Path.Echo = nil
		}, want: Problem, confidence: measure.Medium, says: "does not answer: the host is off"},
		"prohibited":    {code: "port", spoil: failed(unreachable, "dial.no_route", 3), want: Problem, confidence: measure.High, says: "an ICMP error refuses TCP 7658"},
		"no route":      {code: "port", spoil: failed(unreachable, "dial.no_route", 0), want: Problem, confidence: measure.High, says: "no route to vm2", command: "ip route get 10.0.0.2"},
		"forbidden":     {code: "port", spoil: failed(measure.KindPermission, "dial.forbidden", 0), want: Problem, confidence: measure.High, says: "a local firewall forbids"},
		"other program": {code: "port", spoil: failed(measure.KindRefused, "native.other_program", 3), want: Warning, confidence: measure.High, says: "no soku server answers"},
		"denied":        {code: "port", spoil: failed(measure.KindRefused, "server.token", 3), want: Warning, confidence: measure.High, says: "refuses a test: why"},
		"broken":        {code: "port", spoil: failed(measure.KindBroken, "session.closed", 3), want: Problem, confidence: measure.High, says: "failed: why"},
		"another port": {code: "port", spoil: func(s *Subject) {
			failed(unreachable, "dial.refused", 3)(s)
			s.Port = 99
		}, want: Problem, confidence: measure.High, command: "soku server --listen :99"},

		"reported":      {code: "path_mtu", spoil: smaller(measure.LimitReported, false), want: Note, confidence: measure.High, says: "1400 bytes get through, and this host sends up to 1500: larger ones are reported by 10.0.0.1"},
		"locked":        {code: "path_mtu", spoil: smaller(measure.LimitReported, true), want: Problem, confidence: measure.High, says: "the route is locked", command: `sysctl -w net.ipv4.tcp_mtu_probing="1"`},
		"black hole":    {code: "path_mtu", spoil: smaller(measure.LimitBlackHole, false), want: Problem, confidence: measure.High, says: "lost after 10.0.0.1 without a report (black hole)", command: `sysctl -w net.ipv4.tcp_mtu_probing="1"`},
		"unknown limit": {code: "path_mtu", spoil: smaller(measure.LimitUnknown, false), want: Warning, confidence: measure.Medium, says: "is unknown"},
		"small route":   {code: "path_mtu", spoil: func(s *Subject) { s.Path.MTU.Bytes, s.Path.MTU.RouteBytes = 1300, 1300 }},
		"no rights":     {code: "path_mtu", spoil: noMTU(measure.KindPermission), not: NeedsRights},
		"no echo":       {code: "path_mtu", spoil: noMTU(unreachable), not: NoEcho},
		"cut off":       {code: "path_mtu", spoil: noMTU(measure.KindInterrupted), not: Unreadable},
		"no address":    {code: "path_mtu", spoil: func(s *Subject) { *s.Path = Path{Host: "vm2"} }, not: NotReached},
		"macOS":         {code: "path_mtu", spoil: func(s *Subject) { s.Facts.OS, s.Path.MTU = "darwin", nil }, not: OtherSystem},

		"ahead":    {code: "clock_offset", spoil: func(s *Subject) { *s.Path.Offset = Offset{600e6, 1700e6} }, want: Warning, confidence: measure.High, says: "600ms ahead of this one"},
		"behind":   {code: "clock_offset", spoil: func(s *Subject) { *s.Path.Offset = Offset{-9e9, -8e9} }, want: Warning, confidence: measure.High, says: "8s behind this one"},
		"unsure":   {code: "clock_offset", spoil: func(s *Subject) { *s.Path.Offset = Offset{-400e6, 700e6} }},
		"no clock": {code: "clock_offset", spoil: func(s *Subject) { s.Path.Offset = nil }, not: Unreadable},
		"no server": {code: "clock_offset", spoil: func(s *Subject) {
			failed(unreachable, "dial.refused", 3)(s)
			s.Path.Offset = nil
		}, not: NotReached},
	} {
		s := reached()
		c.spoil(s)
		i := slices.IndexFunc(PathChecks, func(k Check) bool { return k.Code == c.code })
		end := Examine(PathChecks[i:i+1], s)
		switch {
		case c.not != "":
			if len(end.NotLooked) != 1 || end.NotLooked[0].Reason != c.not || !text.English().Has("doctor.reason."+string(c.not)) {
				t.Errorf("%s: %+v, want not looked at, %s", name, end, c.not)
			}
			continue
		case c.want == "":
			if len(end.Passed) != 1 {
				t.Errorf("%s: %+v", name, end)
			}
			continue
		case len(end.Findings) != 1:
			t.Errorf("%s: %+v", name, end)
			continue
		}
		f := end.Findings[0]
		if f.Severity != c.want || f.Confidence != c.confidence || c.command != "" && !slices.Contains(f.Commands, c.command) {
			t.Errorf("%s: %s, %s, %q", name, f.Severity, f.Confidence, f.Commands)
		}
		args := text.Args(f.Figures)
		if f.Cause != nil {
			args["cause"] = f.Cause.Message
		}
		if said := text.English().Sentence("doctor.finding."+f.Code, args); !strings.Contains(said, c.says) || strings.Contains(said, "doctor.finding") {
			t.Errorf("%s: %q, want %q", name, said, c.says)
		}
	}
}

func TestAProbedMTUIsNotOfferedWhereTheSystemProbesAlready(t *testing.T) {
	s := reached()
	smaller(measure.LimitBlackHole, false)(s)
	s.Facts.Sysctl[mtuProbing] = "1"
	if f := Examine(PathChecks, s).Findings; len(f) != 1 || len(f[0].Commands) > 0 {
		t.Errorf("%+v", f)
	}
}

func TestAnOffsetIsBetweenWhatAWholeSecondAllows(t *testing.T) {
	began := time.Date(2026, 11, 26, 3, 0, 10, 200e6, time.UTC)
	ended := began.Add(100 * time.Millisecond)
	for date, want := range map[string]*Offset{
		"Thu, 26 Nov 2026 03:00:10 GMT": {-300e6, 800e6},
		"Thu, 26 Nov 2026 03:00:12 GMT": {1700e6, 2800e6},
		"":                              nil,
		"yesterday":                     nil,
	} {
		got := offsetOf(date, began, ended)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q: %+v, want %+v", date, got, want)
		}
	}
}

func TestTheClockOfTheFarEndIsThatOfTheServerOfItsName(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Proto != "HTTP/1.1" {
			t.Errorf("the request is %s", r.Proto)
		}
		http.NotFound(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	known := x509.NewCertPool()
	known.AddCert(server.Certificate()) // of example.com
	for host, want := range map[string]bool{"example.com": true, "example.com:7658": true, "example.net": false} {
		c := Config{Host: host, TLS: &tls.Config{RootCAs: known}}
		o := c.clock(t.Context(), server.Listener.Addr().String())
		if (o != nil) != want || o != nil && (o.LeastNs > 0 || o.MostNs < 0) {
			t.Errorf("%s: %+v", host, o)
		}
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	if o := (&Config{}).clock(t.Context(), plain.Listener.Addr().String()); o == nil || o.LeastNs > 0 || o.MostNs < 0 {
		t.Errorf("without TLS: %+v", o)
	}
}

// A server's result has no counters where it has no sample: its checks do not look.
func TestTheFarEndIsCheckedByWhatItReports(t *testing.T) {
	h := &measure.Host{Facts: healthy().Facts, Counters: &measure.Counters{WallNs: 500e6, CPUBusyNs: 3900e6, ProcessUserNs: 100e6, RxDropped: 4}}
	end := Examine(Checks, farSubject(h, healthy().Wanted))
	codes := []string{}
	for _, f := range end.Findings {
		codes = append(codes, f.Code)
	}
	if !slices.Equal(codes, []string{"cpu_busy", "drops"}) {
		t.Errorf("findings of %q", codes)
	}
	for _, n := range end.NotLooked {
		if n.Reason != NotReported {
			t.Errorf("%s: %s", n.Code, n.Reason)
		}
	}
	h.Counters = nil
	if end := Examine(Checks, farSubject(h, healthy().Wanted)); slices.Contains(end.Passed, "cpu_busy") || len(end.Findings) > 0 {
		t.Errorf("%+v", end)
	}
}

// A server names its interfaces, and a person may type the commands.
func TestNamesOfAServerDoNotGetIntoCommands(t *testing.T) {
	for name, safe := range map[string]bool{"eth0": true, "bond0.7": true, "eth0; reboot": false, "$(reboot)": false, "a|b": false, "x`y`": false} {
		f := healthy().Facts
		f.Interface, f.Offloads = name, map[string]bool{"tso": false}
		end := Examine(Checks, farSubject(&measure.Host{Facts: f}, healthy().Wanted))
		if len(end.Findings) != 1 || end.Findings[0].Code != "offloads" {
			t.Fatalf("%+v", end.Findings)
		}
		if got := end.Findings[0]; (len(got.Commands) == 1) != safe || (len(got.Undo) == 1) != safe {
			t.Errorf("%s: %q", name, got.Commands)
		}
	}
}
