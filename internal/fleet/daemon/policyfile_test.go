package daemon

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
)

func TestAPolicyIsReadFromAFile(t *testing.T) {
	p, err := ParsePolicy("agent.yaml", []byte(`
tests: [tcp, latency]
rate: 100M
duration: 60s
bytes_a_day: 10G
to: [10.0.0.7/8, 192.0.2.1, fd00::/64]
copies: true
commands: true
spool: 2Gi
`))
	if err != nil {
		t.Fatal(err)
	}
	m := p.message()
	if !reflect.DeepEqual(m.Tests, []measure.Test{"tcp", "latency"}) || m.RateBps != 100e6 || m.Duration.Std() != time.Minute || m.BytesPerDay != 10e9 ||
		strings.Join(m.To, " ") != "10.0.0.0/8 192.0.2.1/32 fd00::/64" || !m.Copies || !m.Commands || p.Spool != 2<<30 {
		t.Errorf("%+v", m)
	}
	if p, err := ParsePolicy("agent.yaml", []byte("# nothing\n")); err != nil || !reflect.DeepEqual(p, Policy{}) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestAMistakeInAPolicyIsReportedWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"rate: 100M\ntest: [tcp]\n":  "agent.yaml:2:1",
		"tests: [tcp, http]\n":       "agent.yaml:1:14",
		"to:\n  - 10.0.0.0/8\n  - x": "agent.yaml:3:5",
		"rate: fast\n":               "agent.yaml:1:7",
		"[1]\n":                      "agent.yaml:1:",
		"copies: perhaps\n":          "agent.yaml:1:9",
		strings.Repeat("a", 100_000): "agent.yaml:1:1",
	} {
		if _, err := ParsePolicy("agent.yaml", []byte(text)); measure.KindOf(err) != measure.KindFile || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}
