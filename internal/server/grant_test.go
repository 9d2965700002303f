package server

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/engine/filecopy"
	"soku/internal/measure"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

// granted is a server of one grant and the clock by which it ends.
func granted(t *testing.T, test measure.Test, o measure.Options, change ...func(*Server)) (s *running, clock *atomic.Int64) {
	t.Helper()
	g, err := GrantFor(test, o)
	if err != nil {
		t.Fatal(err)
	}
	clock = &atomic.Int64{}
	return serve(t, Config{Access: WithGrant(secret, g, func() time.Time { return time.Unix(0, clock.Load()) })}, change...), clock
}

// refusal is the code of the error with which a session is refused; empty: it is not.
func (r *running) refusal(test measure.Test, o measure.Options) string {
	r.t.Helper()
	s, err := native.Open(r.t.Context(), r.addr, r.request(test, o), wire.Hooks{})
	if err == nil {
		_ = s.Close()
		return ""
	}
	var e *measure.Error
	if !errors.As(err, &e) || e.Kind != measure.KindRefused {
		r.t.Errorf("%v", err)
		return "another error"
	}
	return e.Code
}

func TestAGrantIsForOneSession(t *testing.T) {
	s, clock := granted(t, measure.TestTCP, tcpOptions())
	c := s.open(measure.TestTCP, tcpOptions())
	if got := s.refusal(measure.TestTCP, tcpOptions()); got != "server.grant.used" {
		t.Errorf("a second session of the grant: %q", got)
	}
	conns := c.tcp()
	clock.Store(int64(time.Hour)) // the session goes on for as long as it takes
	c.start()
	_ = conns[0].CloseWrite()
	c.finish()
	_ = c.Close()
	s.free()
	if got := s.refusal(measure.TestTCP, tcpOptions()); got != "server.grant.used" {
		t.Errorf("a second after the first: %q", got)
	}
	if log := s.logs.String(); !strings.Contains(log, "one session") || strings.Contains(log, secret) {
		t.Error(log)
	}
}

func TestAGrantIsForAMinute(t *testing.T) {
	s, clock := granted(t, measure.TestTCP, tcpOptions())
	clock.Store(int64(GrantLasts + time.Nanosecond))
	if got := s.refusal(measure.TestTCP, tcpOptions()); got != CodeGrantLate {
		t.Errorf("after its time: %q", got)
	}
	if status := s.do(http.MethodGet, native.InfoPath, nil, nil).StatusCode; status != http.StatusUnauthorized {
		t.Errorf("another request after its time: %d", status)
	}
	clock.Store(int64(GrantLasts))
	if got := s.refusal(measure.TestTCP, tcpOptions()); got != "" {
		t.Errorf("at the end of its time: %q", got)
	}
}

func TestAGrantIsForWhoHasItsSecret(t *testing.T) {
	s, _ := granted(t, measure.TestTCP, tcpOptions())
	for token, want := range map[string]string{"": "server.token.missing", secret + "x": "server.token.wrong"} {
		r := s.request(measure.TestTCP, tcpOptions())
		r.Token = token
		_, err := native.Open(t.Context(), s.addr, r, wire.Hooks{})
		if e := measure.AsError(err, ""); e == nil || e.Code != want {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestASessionThatIsRefusedLeavesTheGrant(t *testing.T) {
	var others atomic.Int64 // descriptors that other connections have
	s, _ := granted(t, measure.TestTCP, tcpOptions(), func(s *Server) {
		s.descriptors = newDescriptors(1000)
		s.descriptors.open = func() int { return int(others.Load()) }
	})
	more := tcpOptions(func(o *measure.Options) { o.Bytes *= 2 })
	if got := s.refusal(measure.TestTCP, more); got != "server.grant.more" {
		t.Errorf("more bytes: %q", got)
	}
	others.Store(1000)
	if got := s.refusal(measure.TestTCP, tcpOptions()); got != "server.busy.descriptors" {
		t.Errorf("a server without room: %q", got)
	}
	others.Store(0)
	if got := s.refusal(measure.TestTCP, tcpOptions()); got != "" {
		t.Errorf("what was granted, after that: %q", got)
	}
}

func TestASessionAsksForNoMoreThanItsGrant(t *testing.T) {
	second := measure.Duration(time.Second)
	tcp := func(change ...func(*measure.Options)) measure.Options {
		return options(measure.TestTCP, append([]func(*measure.Options){func(o *measure.Options) { o.Duration, o.Rate, o.Streams = 10*second, 1e6, 4 }}, change...)...)
	}
	set := func(f func(*measure.Options)) func(*measure.Options) { return f }
	latencies := func(change ...func(*measure.Options)) measure.Options { return options(measure.TestLatency, change...) }
	connects := func(change ...func(*measure.Options)) measure.Options {
		return options(measure.TestConnect, append([]func(*measure.Options){func(o *measure.Options) { o.RequestRate = 100 }}, change...)...)
	}
	copies := func(files int) measure.Options {
		return options(measure.TestCopy, func(o *measure.Options) {
			measure.EditOwn(o, func(own *filecopy.Options) { own.Files, own.FileSize = files, 1000 })
		})
	}
	for name, c := range map[string]struct {
		granted, asked measure.Options
		test, other    measure.Test
		exceeds        string
	}{
		"the same":              {tcp(), tcp(), measure.TestTCP, "", ""},
		"less":                  {tcp(), tcp(set(func(o *measure.Options) { o.Duration, o.Rate, o.Streams = second, 1e5, 1 })), measure.TestTCP, "", ""},
		"another test":          {tcp(), options(measure.TestUDP), measure.TestTCP, measure.TestUDP, ""},
		"longer":                {tcp(), tcp(set(func(o *measure.Options) { o.Duration++ })), measure.TestTCP, "", "duration"},
		"an omitted start":      {tcp(), tcp(set(func(o *measure.Options) { o.Omit = second })), measure.TestTCP, "", "duration"},
		"faster":                {tcp(), tcp(set(func(o *measure.Options) { o.Rate++ })), measure.TestTCP, "", "bytes"},
		"without a rate":        {tcp(), tcp(set(func(o *measure.Options) { o.Rate = 0 })), measure.TestTCP, "", "bytes"},
		"faster, not longer":    {tcp(), tcp(set(func(o *measure.Options) { o.Rate, o.Duration = 2*o.Rate, o.Duration/4 })), measure.TestTCP, "", "rate"},
		"more streams":          {tcp(), tcp(set(func(o *measure.Options) { o.Streams++ })), measure.TestTCP, "", "connections"},
		"bytes without a time":  {options(measure.TestTCP), tcpOptions(), measure.TestTCP, "", "duration"},
		"a time without bytes":  {tcpOptions(), options(measure.TestTCP), measure.TestTCP, "", "bytes"},
		"more bytes":            {tcpOptions(), tcpOptions(set(func(o *measure.Options) { o.Bytes++ })), measure.TestTCP, "", "bytes"},
		"the messages granted":  {latencies(), latencies(), measure.TestLatency, "", ""},
		"more messages":         {latencies(set(func(o *measure.Options) { o.Count = 10 })), latencies(set(func(o *measure.Options) { o.Count = 11 })), measure.TestLatency, "", "bytes"},
		"messages more often":   {latencies(set(func(o *measure.Options) { o.RequestRate = 10 })), latencies(set(func(o *measure.Options) { o.RequestRate = 20 })), measure.TestLatency, "", "bytes"},
		"connections":           {connects(), connects(), measure.TestConnect, "", ""},
		"connections faster":    {connects(), connects(set(func(o *measure.Options) { o.RequestRate = 0 })), measure.TestConnect, "", "requests"},
		"more open connections": {connects(), connects(set(func(o *measure.Options) { o.Streams++ })), measure.TestConnect, "", "connections"},
		"the same files":        {copies(3), copies(3), measure.TestCopy, "", ""},
		"more files":            {copies(3), copies(4), measure.TestCopy, "", "bytes"},
	} {
		g, err := GrantFor(c.test, c.granted)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, test := "", c.test
		switch {
		case c.other != "":
			want, test = "server.grant.test", c.other
		case c.exceeds != "":
			want = "server.grant.more"
		}
		e := WithGrant(secret, g, time.Now)(Ask{Token: secret, Session: &Wanted{Test: test, Options: c.asked}})
		switch {
		case want == "" && e == nil:
		case e == nil || e.Code != want:
			t.Errorf("%s: %v", name, e)
		case c.exceeds != "" && e.Figures["what"] != c.exceeds:
			t.Errorf("%s: %v", name, e)
		}
	}
}

// A limit that lowers the rate makes a test of an amount longer, which is not the client's doing.
func TestTheServersOwnLimitIsNoExcess(t *testing.T) {
	o := tcpOptions(func(o *measure.Options) { o.Rate = 1e9 })
	g, err := GrantFor(measure.TestTCP, o)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, Config{MaxRate: 1e6, Access: WithGrant(secret, g, time.Now)})
	if got := s.refusal(measure.TestTCP, o); got != "" {
		t.Error(got)
	}
}

func FuzzGrant(f *testing.F) {
	f.Add([]byte(`{"test":"tcp","options":{"duration_ns":1000000000,"streams":2}}`))
	f.Add([]byte(`{"test":"latency","options":{"count":-1,"requests_per_second":1e300}}`))
	f.Add([]byte(`{"test":"copy","options":{"files":9000000000,"streams":1024}}`))
	g, err := GrantFor(measure.TestTCP, tcpOptions())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var request native.CreateRequest
		if native.DecodeBody(strings.NewReader(string(body)), native.MaxBody, &request) != nil {
			return
		}
		access := WithGrant(secret, g, time.Now)
		ask := Ask{Token: secret, Session: &Wanted{Test: request.Test, Options: request.Options}}
		if access(ask) != nil {
			return
		}
		if o := request.Options; request.Test != measure.TestTCP || o.Bytes > tcpOptions().Bytes || access(ask) == nil {
			t.Errorf("%s", body)
		}
	})
}
