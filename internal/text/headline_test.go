package text_test

import (
	"testing"

	"soku/internal/measure"
	_ "soku/internal/tests" // registers the tests, which say what their headlines are
	"soku/internal/text"
)

func TestHeadlineIsTheFigureOfATest(t *testing.T) {
	for _, c := range []struct {
		test    measure.Test
		failed  measure.Kind
		figures map[string]float64
		want    string
	}{
		{"tcp", "", map[string]float64{"goodput_bps": 941.5e6, "retransmits": 3}, "941.5 Mbit/s"},
		{"tcp", "", map[string]float64{"goodput_bps": 0}, "0.000 bit/s"},
		{"tcp", "", nil, "goodput not known"},
		{"tcp", measure.KindNotFound, nil, "failed: not found"},
		{"udp", "", map[string]float64{"goodput_bps": 10e6, "loss_ratio": 0.0123}, "10.00 Mbit/s, 1.23 % lost"},
		{"udp", "", map[string]float64{"goodput_bps": 10e6, "loss_ratio": 0}, "10.00 Mbit/s"},
		{"latency", "", map[string]float64{"rtt_p50_ns": 48_210, "rtt_p99_ns": 61_000, "rtt_mean_ns": 50_000}, "48.21 µs (p99 61.00 µs)"},
		{"ping", "", map[string]float64{"rtt_p50_ns": 48_210, "rtt_p99_ns": 61_000, "rtt_loss_ratio": 0.5}, "48.21 µs (p99 61.00 µs), 50 % lost"},
		{"latency", "", map[string]float64{"rtt_p50_ns": 48_210, "rtt_mean_ns": 50_000}, "48.21 µs"},
		{"ping", "", map[string]float64{"rtt_p50_ns": 48_210, "rtt_p99_ns": 61_000, "rtt_count": 999}, "48.21 µs"},
		{"ping", "", map[string]float64{"rtt_p50_ns": 48_210, "rtt_p99_ns": 61_000, "rtt_count": 1000}, "48.21 µs (p99 61.00 µs)"},
		{"connect", "", map[string]float64{"connections_per_second": 50, "rtt_p50_ns": 12_759, "rtt_p99_ns": 50_079, "rtt_count": 50}, "50 connections/s (set-up 12.76 µs)"},
		{"latency", "", map[string]float64{"rtt_p99_ns": 61_000, "rtt_mean_ns": 50_000, "rtt_max_ns": 70_000}, "mean 50.00 µs"},
		{"ping", "", map[string]float64{"rtt_max_ns": 70_000}, "at most 70.00 µs"},
		{"ping", "", map[string]float64{"rtt_loss_ratio": 1}, "no reply, 100 % lost"},
		{"ping", "", map[string]float64{"rtt_loss_ratio": 0.25}, "25 % lost, no round-trip times"},
		{"latency", "", nil, "no reply"},
		{"connect", "", map[string]float64{"connections_per_second": 34781.4, "rtt_p50_ns": 12_759, "rtt_p99_ns": 50_079}, "34781 connections/s (set-up 12.76 µs, p99 50.08 µs)"},
		{"connect", "", map[string]float64{"connections_per_second": 105, "rtt_loss_ratio": 0.25}, "105 connections/s, 25 % failed"},
		{"connect", "", map[string]float64{"rtt_p50_ns": 12_759, "rtt_p99_ns": 50_079, "rtt_loss_ratio": 0.25}, "set-up 12.76 µs (p99 50.08 µs), 25 % failed"},
		{"connect", "", map[string]float64{"rtt_loss_ratio": 1}, "0 connections/s, 100 % failed"},
		{"trace", "", map[string]float64{"hops": 1, "rtt_p50_ns": 51_970, "rtt_loss_ratio": 0.4}, "1 hop, 51.97 µs, 40 % lost"},
		{"trace", "", map[string]float64{"hops": 3, "rtt_mean_ns": 51_970}, "3 hops, mean 51.97 µs"},
		{"trace", "", map[string]float64{"hops": 2}, "2 hops, target silent"},
		{"trace", "", nil, "no hops"},
		{"mtu", "", map[string]float64{"path_mtu_bytes": 1500}, "1500 bytes"},
		{"a test of a later version", "", map[string]float64{"goodput_bps": 1e9}, "1.000 Gbit/s"},
	} {
		if _, got := text.English().Words(text.Headline(c.test, c.failed, c.figures)); got != c.want {
			t.Errorf("%s %s %v is %q, want %q", c.test, c.failed, c.figures, got, c.want)
		}
	}
}
