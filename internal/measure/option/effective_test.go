package option_test

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"soku/internal/engine/ping"
	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/measure/option"
	_ "soku/internal/tests"
)

func TestDefaultsAreEffectiveForEveryTest(t *testing.T) {
	for _, test := range measure.Tests() {
		first, err := option.Effective(option.Defaults(test), test)
		if err != nil {
			t.Fatalf("%s: %v", test, err)
		}
		if again, err := option.Effective(first, test); err != nil || again != first {
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
		{measure.TestTCP, func(o *measure.Options) { o.Rate, o.Burst, o.Via = 1, 10, option.ViaEthr }, "burst does not go with via ethr"},
		{measure.TestUDP, func(o *measure.Options) { o.Via, o.Direction = option.ViaEthr, measure.Reverse }, "direction reverse does not go with via ethr: the server receives datagrams and sends none; leave out one of them"},
		{measure.TestTCP, func(o *measure.Options) { o.Via, o.Direction = option.ViaEthr, measure.Bidirectional }, "direction bidirectional does not go with via ethr"},
		{measure.TestUDP, func(o *measure.Options) { o.Burst = 1001 }, "out of range"},
		{measure.TestTCP, func(o *measure.Options) { o.Bytes, o.Omit = 1, measure.Duration(time.Second) }, "exclude each other"},
		{measure.TestTCP, func(o *measure.Options) { o.TX = "gso" }, "tx gso does not apply to the tcp test; use auto, write"},
		{measure.TestUDP, func(o *measure.Options) { o.RX = "discard" }, "rx discard does not apply to the udp test"},
		{measure.TestTCP, func(o *measure.Options) { o.Rate, o.TX = 1e6, "splice" }, "tx splice cannot keep a rate"},
		{measure.TestUDP, func(o *measure.Options) { o.Size = 10 }, "at least 28 bytes"},
		{measure.TestUDP, func(o *measure.Options) { o.Size = 65508 }, "size"},
		{measure.TestLatency, func(o *measure.Options) { o.Size = 0 }, "1 B to 64 KiB"},
		{measure.TestLatency, func(o *measure.Options) { o.Flows = 257 }, "flows 257: out of range; allowed: 1..256"},
		{measure.TestLatency, func(o *measure.Options) { o.Flows, o.RequestRate = 2, 5 }, "flows and request_rate exclude each other"},
		{measure.TestTCP, func(o *measure.Options) { o.Rate = 100 }, "rate 100.0 bit/s sends less than one packet of each stream, together 1.448 kB, in the 10s of the test; did you mean 100M?"},
		{measure.TestUDP, func(o *measure.Options) { o.Rate, o.Streams = 10_000, 16 }, "together 22.40 kB, in the 10s of the test; use a higher --rate"},
		{measure.TestUDP, func(o *measure.Options) { o.Rate, o.Burst = 100_000, 1000 }, "a burst of 1000 of each stream, 1.400 MB, takes longer"},
		{measure.TestUDP, func(o *measure.Options) { o.Burst, o.Bytes = 100, 1000 }, "is more than the 1.000 kB of the test"},
		{measure.TestUDP, func(o *measure.Options) { o.Rate, o.Bytes = 10_000, 10e9 }, "take longer than 24h0m0s, the longest test"},
		{measure.TestLatency, func(o *measure.Options) { o.RequestRate = 0.001 }, "request_rate 0.001: less than one in the 10s of the test"},
		{measure.TestConnect, func(o *measure.Options) { o.RequestRate, o.Count = 0.001, 1000 }, "1000 at 0.001 a second take longer than 24h0m0s"},
		{measure.TestPing, func(o *measure.Options) { o.Own = ping.Options{Spacing: 20e9} }, "spacing 20s is longer than the 10s of the test"},
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
		o := option.Defaults(c.test)
		c.set(&o)
		_, err := option.Effective(o, c.test)
		var e *measure.Error
		if !errors.As(err, &e) || e.Kind != measure.KindUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want a usage error with %q", err, c.want)
		}
	}
}

func TestDSCPNamesBecomeTheTypeOfServiceByte(t *testing.T) {
	for name, want := range map[string]int{"ef": 0xb8, "AF41": 0x88, "cs1": 0x20, "63": 0xfc} {
		o := option.Defaults(measure.TestTCP)
		o.DSCP = name
		if got, err := option.Effective(o, measure.TestTCP); err != nil || got.TOS != want {
			t.Errorf("dscp %s: tos %#x, %v; want %#x", name, got.TOS, err, want)
		}
	}
}

func TestAnAmountReplacesTheTime(t *testing.T) {
	o := option.Defaults(measure.TestTCP)
	o.Bytes = 1000
	got, err := option.Effective(o, measure.TestTCP)
	if err != nil || got.Duration != 0 {
		t.Errorf("duration %s, %v; want none", got.Duration, err)
	}
}

func TestTheUsualLengthIsThatOfTheStreamsAndAGivenOneStays(t *testing.T) {
	for _, c := range []struct {
		streams      int
		length, want measure.Size
	}{{1, 0, 1 << 20}, {2, 0, 256 << 10}, {32, 0, 256 << 10}, {1, 128 << 10, 128 << 10}, {32, 1 << 20, 1 << 20}} {
		o := option.Defaults(measure.TestTCP)
		o.Streams, o.Length = c.streams, c.length
		got, err := option.Effective(o, measure.TestTCP)
		if err != nil || got.Length != c.want {
			t.Errorf("%d streams, length %v: %v (%v), want %v", c.streams, c.length, got.Length, err, c.want)
		}
	}
}

func TestEveryOptionBelongsToATestAndEveryTestNamesOptionsThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, test := range measure.Tests() {
		fields := option.Fields(test)
		if len(fields) != len(option.SpecOf(test).Options) {
			t.Errorf("%s: %d options exist of the %d that it names", test, len(fields), len(option.SpecOf(test).Options))
		}
		for _, f := range fields {
			known[f.Key] = true
		}
	}
	for _, key := range option.Keys() {
		if !known[key] {
			t.Errorf("option %s is of no test", key)
		}
	}
}

func TestANameOrAPlaceIsTakenOnce(t *testing.T) {
	for _, s := range []option.Spec{{Name: measure.TestTCP, Place: 9999}, {Name: "another", Place: option.SpecOf(measure.TestTCP).Place}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was registered", s)
				}
			}()
			option.Register(s)
		}()
	}
}

func TestSmallAmountsAndRatesThatSendSomethingAreAllowed(t *testing.T) {
	for test, sets := range map[measure.Test][]func(*measure.Options){
		measure.TestTCP: {
			func(o *measure.Options) { o.Bytes = 1 },
			func(o *measure.Options) { o.Rate = 10_000 },
			func(o *measure.Options) { o.Rate, o.Via = 100, option.ViaIperf3 }, // its writes are its own
		},
		measure.TestUDP:     {func(o *measure.Options) { o.Bytes = 1 }, func(o *measure.Options) { o.Rate = 1200 }},
		measure.TestLatency: {func(o *measure.Options) { o.Count = 1 }, func(o *measure.Options) { o.RequestRate = 0.1 }},
		measure.TestPing:    {func(o *measure.Options) { o.Count = 1; o.Own = ping.Options{Spacing: 20e9} }},
	} {
		for i, set := range sets {
			o := option.Defaults(test)
			set(&o)
			if _, err := option.Effective(o, test); err != nil {
				t.Errorf("%s %d: %v", test, i, err)
			}
		}
	}
}

// Zero stands for an absent value in documents of older programs, and not where a person
// writes it.
func TestAnExplicitValueIsInTheRangeOfItsOption(t *testing.T) {
	for _, test := range measure.Tests() {
		for _, f := range option.Fields(test) {
			o := option.Defaults(test)
			_ = f.Edit(&o, func(p any) error { reflect.ValueOf(p).Elem().SetZero(); return nil })
			err := f.Check(&o)
			if least := strings.HasPrefix(f.Range(), "0") || f.Range() == ""; least == (err != nil) && len(f.Enum) == 0 {
				t.Errorf("%s: %s of zero, range %q: %v", test, f.Key, f.Range(), err)
			}
		}
	}
}

func TestALimitForClientsAllowsAPacketASecond(t *testing.T) {
	for rate, valid := range map[measure.Rate]bool{0: true, 10: false, 11_000: false, 20_000: true} {
		if err := option.CheckMaxRate(rate); (err == nil) != valid || err != nil && measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%v: %v", rate, err)
		}
	}
}

func TestHelpOfATestIsAboutThatTest(t *testing.T) {
	for _, test := range measure.Tests() {
		for _, f := range option.Fields(test) {
			help := f.HelpFor(test)
			for _, other := range measure.Tests() {
				if protocol := other == measure.TestTCP || other == measure.TestUDP; other != test && !protocol &&
					regexp.MustCompile(`\b(for|and|to) `+string(other)+`\b|\(`+string(other)+`[,)]`).MatchString(help) {
					t.Errorf("%s: --%s is about %s: %s", test, f.Flag, other, help)
				}
			}
		}
	}
}
