package trial

import (
	"io"
	"net"
	"strings"
	"testing"

	"soku/internal/engine/connect"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/test/exchange"
	"soku/test/tier"
)

func TestAURLNamesHostAndPort(t *testing.T) {
	for text, want := range map[string]struct {
		host string
		port int
	}{
		"https://example.net":             {"example.net", 443},
		"HTTP://example.net/path?a=b":     {"example.net", 80},
		"https://example.net:8443/":       {"example.net", 8443},
		"ssh://10.0.0.4:22":               {"10.0.0.4", 22},
		"https://[2001:db8::1]":           {"2001:db8::1", 443},
		"https://user:secret@example.net": {"example.net", 443},
		"example.net:443":                 {"example.net:443", 0}, // no URL
	} {
		host, o, err := external(text, measure.TestConnect, option.Defaults(measure.TestConnect))
		if err != nil || host != want.host || connect.OptionsOf(o).ToPort != want.port {
			t.Errorf("%s: %s, %+v, %v", text, host, o.Own, err)
		}
	}
	for _, text := range []string{"https://", "ftp://example.net", "https://example.net:0", "https://example.net:65536", "https://exa mple"} {
		if _, _, err := external(text, measure.TestConnect, measure.Options{}); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, _, err := external("https://example.net", measure.TestConnect, measure.Options{Own: connect.Options{ToPort: 80}}); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("two ports: %v", err)
	}
	if _, _, err := external("https://example.net", measure.TestTCP, measure.Options{}); err == nil || !strings.Contains(err.Error(), "soku connect https://example.net") {
		t.Errorf("another test: %v", err)
	}
}

func TestWhateverListensBehindAColonIsConnectedTo(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, f := range map[string]func(net.Conn){
		"closes":  func(net.Conn) {},
		"another": func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) },
		"greets":  func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-x\r\n")); _, _ = io.Copy(io.Discard, c) },
		"silent":  func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := option.Defaults(measure.TestConnect)
			o.Count = 5
			r := Run(t.Context(), Spec{Test: measure.TestConnect, Options: o, Host: exchange.Service(t, f)}, Hooks{})
			if r.Error != nil || r.Connect == nil || r.Connect.Opened != 5 || r.Connect.Entry != "foreign" || r.Options.RequestRate != 100 {
				t.Fatalf("%v, %+v, rate %g", r.Error, r.Connect, r.Options.RequestRate)
			}
			if found := r.Findings.With(finding.NoSokuServer); len(found) != 1 || found[0].Figures["connections_per_second"] != 100.0 {
				t.Errorf("findings %+v", r.Findings)
			}
		})
	}
}

func TestWhatOnlyASokuServerCanDoIsLeftToOne(t *testing.T) {
	addr := exchange.Service(t, func(net.Conn) {})
	for name, change := range map[string]func(*Spec){
		"a size":  func(s *Spec) { s.Options.Size = 1 },
		"a token": func(s *Spec) { s.Token = "x" },
		"entry":   func(s *Spec) { s.Options.Own = connect.Options{Close: "auto", Entry: "main"} },
	} {
		s := Spec{Test: measure.TestConnect, Options: option.Defaults(measure.TestConnect), Host: addr}
		change(&s)
		if r := Run(t.Context(), s, Hooks{}); measure.KindOf(r.Error) != measure.KindRefused {
			t.Errorf("%s: %v", name, r.Error)
		}
	}
}
