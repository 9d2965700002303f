package server_test

import (
	"bytes"
	"testing"

	"soku/internal/measure/option"
	"soku/internal/server"
	serverethr "soku/internal/server/ethr"
	serveriperf3 "soku/internal/server/iperf3"
	"soku/internal/wire/ethr"
	"soku/internal/wire/iperf3"
	"soku/internal/wire/native"
)

// foreign are the protocols of other tools.
func foreign() []server.Protocol {
	return []server.Protocol{serverethr.New(serverethr.Hooks{}), serveriperf3.New(serveriperf3.Config{})}
}

// beginnings are, for each protocol, what its connections begin with.
func beginnings() map[string][]string {
	return map[string][]string{
		"data":             {native.Magic},
		"control":          {"GET ", "POST", "DELE", "HEAD", "PUT ", "PATC", "OPTI"},
		"control over TLS": {"\x16\x03"},
		option.ViaEthr:     {string(ethr.Append(nil, ethr.Message{Kind: ethr.Syn, Test: ethr.Bandwidth}))},
		option.ViaIperf3:   {"abcdefghijklmnopqrstuvwxyz234567abcd\x00"},
	}
}

func FuzzRecognise(f *testing.F) {
	for _, begins := range beginnings() {
		for _, b := range begins {
			f.Add([]byte(b))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < server.Sniffed {
			return
		}
		name, more := server.Recognise(foreign(), b)
		if name == "" || more > 0 {
			return
		}
		for _, begin := range beginnings()[name] {
			if bytes.HasPrefix(b, []byte(begin)) {
				return
			}
		}
		if name == option.ViaEthr && bytes.Contains(b, []byte("EthrMsg")) {
			return // behind a length
		}
		if name == option.ViaIperf3 && len(b) >= iperf3.CookieSize && iperf3.MayBeCookie(b[:iperf3.CookieSize]) {
			return // any cookie is one
		}
		t.Errorf("%q was taken for %s", b, name)
	})
}

func TestNoProtocolHidesAnother(t *testing.T) {
	for _, p := range foreign() {
		if len(beginnings()[p.Name()]) == 0 {
			t.Errorf("nothing is known of how %s begins", p.Name())
		}
	}
	for name, begins := range beginnings() {
		for _, b := range begins {
			n := max(min(len(b), server.MaxSniffed), server.Sniffed)
			if got, _ := server.Recognise(foreign(), []byte(b + "....")[:n]); got != name {
				t.Errorf("%q is taken for %q, not for %s", b, got, name)
			}
		}
	}
}
