package measure_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"soku/internal/engine/udp"
	"soku/internal/measure"
	_ "soku/internal/tests"
)

func TestDefaultsAreEffectiveForEveryTest(t *testing.T) {
	for _, test := range measure.Tests() {
		first, err := measure.Defaults(test).Effective(test)
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
		test measure.Test
		set  func(*measure.Options)
		want string
	}{
		{measure.TestTCP, func(o *measure.Options) { o.Streams = 0 }, "streams 0: out of range; allowed: 1..1024"},
		{measure.TestTCP, func(o *measure.Options) { o.Streams = 1025 }, "streams 1025"},
		{measure.TestTCP, func(o *measure.Options) { o.Direction = "sideways" }, "direction \"sideways\" is not one of its values; use forward, reverse, bidirectional"},
		{measure.TestTCP, func(o *measure.Options) { o.Rate = -1 }, "out of range; allowed: 0 and more"},
		{measure.TestTCP, func(o *measure.Options) { o.Size = 5 }, "size does not apply to the tcp test"},
		{measure.TestTCP, func(o *measure.Options) { o.IPVersion = 5 }, "ip_version"},
		{measure.TestTCP, func(o *measure.Options) { o.Burst = 10 }, "burst 10 has no rate"},
		{measure.TestTCP, func(o *measure.Options) { o.Rate, o.Burst, o.Via = 1, 10, measure.ViaEthr }, "burst does not go with via ethr"},
		{measure.TestUDP, func(o *measure.Options) { o.Via, o.Direction = measure.ViaEthr, measure.Reverse }, "direction reverse does not go with via ethr: the server receives datagrams and sends none; leave out one of them"},
		{measure.TestTCP, func(o *measure.Options) { o.Via, o.Direction = measure.ViaEthr, measure.Bidirectional }, "direction bidirectional does not go with via ethr"},
		{measure.TestUDP, func(o *measure.Options) { o.Burst = 1001 }, "out of range"},
		{measure.TestTCP, func(o *measure.Options) { o.Bytes, o.Omit = 1, measure.Duration(time.Second) }, "exclude each other"},
		{measure.TestTCP, func(o *measure.Options) { o.TX = "gso" }, "tx gso does not apply to the tcp test; use auto, write"},
		{measure.TestUDP, func(o *measure.Options) { o.RX = "discard" }, "rx discard does not apply to the udp test"},
		{measure.TestTCP, func(o *measure.Options) { o.Rate, o.TX = 1000, "splice" }, "tx splice cannot keep a rate"},
		{measure.TestUDP, func(o *measure.Options) { o.Size = 10 }, "at least 28 bytes"},
		{measure.TestUDP, func(o *measure.Options) { o.Size = 65508 }, "size"},
		{measure.TestLatency, func(o *measure.Options) { o.Size = 0 }, "1 B to 64 KiB"},
		{measure.TestLatency, func(o *measure.Options) { o.Flows = 257 }, "flows 257: out of range; allowed: 1..256"},
		{measure.TestLatency, func(o *measure.Options) { o.Flows, o.RequestRate = 2, 5 }, "flows and request_rate exclude each other"},
		{measure.TestPing, func(o *measure.Options) { o.Streams = 2 }, "does not apply to the ping test"},
		{measure.TestTCP, func(o *measure.Options) { o.DSCP = "gold" }, "dscp \"gold\""},
		{measure.TestTCP, func(o *measure.Options) { o.DSCP, o.TOS = "ef", 8 }, "contradict"},
		{measure.TestTCP, func(o *measure.Options) { o.FlowLabel = 1 << 20 }, "flow_label 1048576: out of range; allowed: 0..1048575"},
		{measure.TestUDP, func(o *measure.Options) { o.FlowLabel, o.IPVersion = 5, 4 }, "IPv4 has no flow labels"},
		{measure.TestPing, func(o *measure.Options) { o.FlowLabel = 5 }, "flow_label does not apply to the ping test"},
		{measure.TestTCP, func(o *measure.Options) { o.Own = udp.Options{NoFragment: true} }, "dont_fragment does not apply to the tcp test"},
		{measure.TestUDP, func(o *measure.Options) { o.Multipath = true }, "mptcp does not apply to the udp test"},
		{measure.TestTCP, func(o *measure.Options) { o.Multipath, o.FlowLabel = true, 5 }, "mptcp does not go with flow_label"},
		{measure.TestTCP, func(o *measure.Options) { o.Multipath, o.TX = true, "zerocopy" }, "mptcp does not go with tx zerocopy"},
		{measure.TestTCP, func(o *measure.Options) { o.Multipath, o.RX = true, "discard" }, "mptcp does not go with rx discard"},
	} {
		o := measure.Defaults(c.test)
		c.set(&o)
		_, err := o.Effective(c.test)
		var e *measure.Error
		if !errors.As(err, &e) || e.Kind != measure.KindUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want a usage error with %q", err, c.want)
		}
	}
}

func TestDSCPNamesBecomeTheTypeOfServiceByte(t *testing.T) {
	for name, want := range map[string]int{"ef": 0xb8, "AF41": 0x88, "cs1": 0x20, "63": 0xfc} {
		o := measure.Defaults(measure.TestTCP)
		o.DSCP = name
		if got, err := o.Effective(measure.TestTCP); err != nil || got.TOS != want {
			t.Errorf("dscp %s: tos %#x, %v; want %#x", name, got.TOS, err, want)
		}
	}
}

func TestAnAmountReplacesTheTime(t *testing.T) {
	o := measure.Defaults(measure.TestTCP)
	o.Bytes = 1000
	got, err := o.Effective(measure.TestTCP)
	if err != nil || got.Duration != 0 {
		t.Errorf("duration %s, %v; want none", got.Duration, err)
	}
}

func TestTheUsualLengthIsThatOfTheStreamsAndAGivenOneStays(t *testing.T) {
	for _, c := range []struct {
		streams      int
		length, want measure.Size
	}{{1, 0, 1 << 20}, {2, 0, 256 << 10}, {32, 0, 256 << 10}, {1, 128 << 10, 128 << 10}, {32, 1 << 20, 1 << 20}} {
		o := measure.Defaults(measure.TestTCP)
		o.Streams, o.Length = c.streams, c.length
		got, err := o.Effective(measure.TestTCP)
		if err != nil || got.Length != c.want {
			t.Errorf("%d streams, length %v: %v (%v), want %v", c.streams, c.length, got.Length, err, c.want)
		}
	}
}

func TestEveryOptionBelongsToATestAndEveryTestNamesOptionsThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, test := range measure.Tests() {
		fields := measure.OptionFields(test)
		if len(fields) != len(measure.SpecOf(test).Options) {
			t.Errorf("%s: %d options exist of the %d that it names", test, len(fields), len(measure.SpecOf(test).Options))
		}
		for _, f := range fields {
			known[f.Key] = true
		}
	}
	for _, key := range measure.OptionKeys() {
		if !known[key] {
			t.Errorf("option %s is of no test", key)
		}
	}
}

func TestANameOrAPlaceIsTakenOnce(t *testing.T) {
	for _, s := range []measure.Spec{{Name: measure.TestTCP, Place: 9999}, {Name: "another", Place: measure.SpecOf(measure.TestTCP).Place}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was registered", s)
				}
			}()
			measure.Register(s)
		}()
	}
}
