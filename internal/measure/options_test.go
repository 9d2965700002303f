package measure

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestDefaultsAreEffectiveForEveryTest(t *testing.T) {
	for _, test := range Tests() {
		first, err := Defaults(test).Effective(test)
		if err != nil {
			t.Fatalf("%s: %v", test, err)
		}
		if again, err := first.Effective(test); err != nil || again != first {
			t.Errorf("%s: effective options are not their own effective options: %v", test, err)
		}
	}
}

func TestOptionsOutsideTheirRangeNameTheOptionAndTheRange(t *testing.T) {
	for _, c := range []struct {
		test Test
		set  func(*Options)
		want string
	}{
		{TestTCP, func(o *Options) { o.Streams = 0 }, "streams 0: out of range; allowed: 1..1024"},
		{TestTCP, func(o *Options) { o.Streams = 1025 }, "streams 1025"},
		{TestTCP, func(o *Options) { o.Direction = "sideways" }, "direction \"sideways\" is not one of its values; use forward, reverse, bidirectional"},
		{TestTCP, func(o *Options) { o.Rate = -1 }, "rate"},
		{TestTCP, func(o *Options) { o.Size = 5 }, "size does not apply to the tcp test"},
		{TestTCP, func(o *Options) { o.IPVersion = 5 }, "ip_version"},
		{TestTCP, func(o *Options) { o.Burst = 10 }, "burst 10 has no rate"},
		{TestTCP, func(o *Options) { o.Rate, o.Burst, o.Via = 1, 10, ViaEthr }, "burst does not go with via ethr"},
		{TestUDP, func(o *Options) { o.Burst = 1001 }, "out of range"},
		{TestTCP, func(o *Options) { o.Bytes, o.Omit = 1, Duration(time.Second) }, "exclude each other"},
		{TestTCP, func(o *Options) { o.TX = "gso" }, "tx gso does not apply to the tcp test; use auto, write"},
		{TestUDP, func(o *Options) { o.RX = "discard" }, "rx discard does not apply to the udp test"},
		{TestTCP, func(o *Options) { o.Verify, o.RX = true, "discard" }, "verify needs bytes that are written and read"},
		{TestTCP, func(o *Options) { o.Rate, o.TX = 1000, "splice" }, "tx splice cannot keep a rate"},
		{TestUDP, func(o *Options) { o.Size = 10 }, "at least 28 bytes"},
		{TestUDP, func(o *Options) { o.Size = 65508 }, "size"},
		{TestLatency, func(o *Options) { o.Size = 0 }, "1 B to 64 KiB"},
		{TestLatency, func(o *Options) { o.Protocol = "sctp" }, "protocol"},
		{TestLatency, func(o *Options) { o.Flows = 257 }, "flows 257: out of range; allowed: 1..256"},
		{TestLatency, func(o *Options) { o.Flows, o.RequestRate = 2, 5 }, "flows and request_rate exclude each other"},
		{TestLatency, func(o *Options) { o.OneWay, o.RequestRate = true, 5 }, "one_way and request_rate exclude each other"},
		{TestLatency, func(o *Options) { o.Arrivals = "poisson" }, "arrivals poisson has no rate"},
		{TestLatency, func(o *Options) { o.Spin = "maybe" }, "spin \"maybe\" is not one of its values; use auto, on, off"},
		{TestLatency, func(o *Options) { o.OneWay, o.Size = true, 23 }, "needs at least 24 bytes over tcp"},
		{TestLatency, func(o *Options) { o.OneWay, o.Size, o.Protocol = true, 43, "udp" }, "needs at least 44 bytes over udp"},
		{TestLatency, func(o *Options) { o.Stamps = "halved" }, "stamps \"halved\" is not one of its values; use auto, on, off, split"},
		{TestLatency, func(o *Options) { o.Stamps, o.RequestRate = "split", 5 }, "stamps split and request_rate exclude each other"},
		{TestLatency, func(o *Options) { o.Stamps, o.Size = "split", 23 }, "needs at least 24 bytes over tcp"},
		{TestLatency, func(o *Options) { o.Stamps, o.Size, o.Protocol = "split", 43, "udp" }, "needs at least 44 bytes over udp"},
		{TestPing, func(o *Options) { o.Streams = 2 }, "does not apply to the ping test"},
		{TestTCP, func(o *Options) { o.DSCP = "gold" }, "dscp \"gold\""},
		{TestTCP, func(o *Options) { o.DSCP, o.TOS = "ef", 8 }, "contradict"},
		{TestTCP, func(o *Options) { o.FlowLabel = 1 << 20 }, "flow_label 1048576: out of range; allowed: 0..1048575"},
		{TestUDP, func(o *Options) { o.FlowLabel, o.IPVersion = 5, 4 }, "IPv4 has no flow labels"},
		{TestPing, func(o *Options) { o.FlowLabel = 5 }, "flow_label does not apply to the ping test"},
		{TestTCP, func(o *Options) { o.NoFragment = true }, "dont_fragment does not apply to the tcp test"},
		{TestUDP, func(o *Options) { o.Multipath = true }, "mptcp does not apply to the udp test"},
		{TestTCP, func(o *Options) { o.Multipath, o.FlowLabel = true, 5 }, "mptcp does not go with flow_label"},
		{TestTCP, func(o *Options) { o.Multipath, o.TX = true, "zerocopy" }, "mptcp does not go with tx zerocopy"},
		{TestTCP, func(o *Options) { o.Multipath, o.RX = true, "discard" }, "mptcp does not go with rx discard"},
		{TestLatency, func(o *Options) { o.Multipath, o.Protocol = true, "udp" }, "mptcp does not go with protocol udp"},
	} {
		o := Defaults(c.test)
		c.set(&o)
		_, err := o.Effective(c.test)
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want a usage error with %q", err, c.want)
		}
	}
}

func TestDSCPNamesBecomeTheTypeOfServiceByte(t *testing.T) {
	for name, want := range map[string]int{"ef": 0xb8, "AF41": 0x88, "cs1": 0x20, "63": 0xfc} {
		o := Defaults(TestTCP)
		o.DSCP = name
		if got, err := o.Effective(TestTCP); err != nil || got.TOS != want {
			t.Errorf("dscp %s: tos %#x, %v; want %#x", name, got.TOS, err, want)
		}
	}
}

func TestAnAmountReplacesTheTime(t *testing.T) {
	o := Defaults(TestTCP)
	o.Bytes = 1000
	got, err := o.Effective(TestTCP)
	if err != nil || got.Duration != 0 {
		t.Errorf("duration %s, %v; want none", got.Duration, err)
	}
}

func TestEveryOptionIsDeclaredInFull(t *testing.T) {
	keys, flags := map[string]bool{}, map[string]bool{}
	for _, f := range optionFields {
		if f.Key == "" || f.Flag == "" || f.Help == "" || len(f.Tests) == 0 {
			t.Errorf("option %+v lacks a tag", f)
		}
		if keys[f.Key] || flags[f.Flag] {
			t.Errorf("option %s is declared twice", f.Key)
		}
		keys[f.Key], flags[f.Flag] = true, true
	}
}

func TestAbsentOptionsOfAnOlderProgramAreTheDefaults(t *testing.T) {
	o := Defaults(TestLatency)
	o.Flows, o.Arrivals, o.Spin, o.Stamps = 0, "", "", ""
	got, err := o.Effective(TestLatency)
	if want, _ := Defaults(TestLatency).Effective(TestLatency); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheUsualLengthIsThatOfTheStreamsAndAGivenOneStays(t *testing.T) {
	for _, c := range []struct {
		streams      int
		length, want Size
	}{{1, 0, 1 << 20}, {2, 0, 256 << 10}, {32, 0, 256 << 10}, {1, 128 << 10, 128 << 10}, {32, 1 << 20, 1 << 20}} {
		o := Defaults(TestTCP)
		o.Streams, o.Length = c.streams, c.length
		got, err := o.Effective(TestTCP)
		if err != nil || got.Length != c.want {
			t.Errorf("%d streams, length %v: %v (%v), want %v", c.streams, c.length, got.Length, err, c.want)
		}
	}
}

func TestTheLimitsOfAnOptionAreWholeNumbers(t *testing.T) {
	options := reflect.TypeFor[Options]()
	for field := range options.Fields() {
		for _, key := range []string{"min", "max"} {
			text, ok := field.Tag.Lookup(key)
			if !ok {
				continue
			}
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				t.Errorf("%s of %s: %v", key, field.Name, err)
			}
		}
	}
}
