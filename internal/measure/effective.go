package measure

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults are the options of a test when nothing is asked. Flags and plans are
// read over them, so that an explicit zero is told from silence.
func Defaults(test Test) Options {
	o := Options{
		Duration: Duration(10 * time.Second), Interval: Duration(time.Second),
		ConnectTimeout: Duration(5 * time.Second),
	}
	switch test {
	case TestTCP:
		o.Streams, o.Direction, o.Via = 1, Forward, ViaSoku
		o.TX, o.RX = "auto", "auto"
	case TestUDP:
		// 1400 bytes fit every common path without fragments; 10 Mbit/s is no flood.
		o.Streams, o.Size, o.Rate, o.Direction, o.Via = 1, 1400, 10_000_000, Forward, ViaSoku
		o.TX, o.RX = "auto", "auto"
	case TestLatency:
		o.Protocol, o.Size, o.Row, o.Timeout, o.Via = "tcp", 64, 1000, Duration(time.Second), ViaSoku
		o.Flows, o.Arrivals, o.Spin, o.Stamps = 1, "fixed", "auto", "auto"
	case TestConnect:
		o.Streams, o.Close, o.Entry, o.Via = 1, "auto", "auto", ViaSoku
	case TestPing:
		o.Size, o.Spacing, o.Timeout = 56, Duration(100*time.Millisecond), Duration(time.Second)
	}
	switch test {
	case TestTrace:
		o.Duration, o.Probe, o.Count, o.Flows, o.MaxHops, o.Timeout = 0, "udp", 10, 1, 30, Duration(time.Second)
	case TestMTU:
		o.Duration, o.Interval, o.Probe, o.Count, o.MaxHops, o.Timeout = 0, 0, "icmp", 3, 30, Duration(time.Second)
	}
	return o
}

// Effective checks o for a test and returns what will be used: fields that do
// not apply are an error when set, DSCP names become the TOS byte, and an
// amount (bytes, count) sets the duration to zero, which means no time limit.
// Effective options are their own effective options. Errors are of kind usage
// and name the option.
func (o Options) Effective(test Test) (Options, error) {
	if _, has := paths[test]; has { // absent in what an older program wrote
		o.TX, o.RX = cmp.Or(o.TX, "auto"), cmp.Or(o.RX, "auto")
	}
	if test == TestTCP && o.Length == 0 {
		o.Length = UsualLength(o.Streams)
	}
	if test == TestLatency { // absent likewise
		o.Flows, o.Arrivals = cmp.Or(o.Flows, 1), cmp.Or(o.Arrivals, "fixed")
		o.Spin, o.Stamps = cmp.Or(o.Spin, "auto"), cmp.Or(o.Stamps, "auto")
	}
	if test.NeedsServer() {
		if err := o.resolveVia(test); err != nil {
			return o, err
		}
	}
	if test == TestTrace || test == TestMTU {
		if err := o.effectiveProbe(test); err != nil {
			return o, err
		}
	}
	v := reflect.ValueOf(&o).Elem()
	for _, f := range optionFields {
		field := v.Field(f.index)
		if !slices.Contains(f.Tests, test) {
			if !field.IsZero() {
				return o, Errorf(KindUsage, "%s does not apply to the %s test", f.Key, test).WithHint("it is for: %s", list(f.Tests))
			}
			continue
		}
		if f.Key == "duration" && (o.Bytes > 0 || o.Count > 0) {
			field.SetInt(0) // an amount replaces the time
			continue
		}
		if f.Key == "port" && o.Probe == "icmp" {
			continue // echo has none
		}
		if err := f.check(field); err != nil {
			return o, err
		}
	}
	if err := o.resolveDSCP(); err != nil {
		return o, err
	}
	if err := o.checkPaths(test); err != nil {
		return o, err
	}
	if err := o.checkSocket(test); err != nil {
		return o, err
	}
	if _, _, err := ParsePin(o.Pin); err != nil {
		return o, err
	}
	switch test {
	case TestLatency:
		if err := o.checkLatency(); err != nil {
			return o, err
		}
		if o.Protocol == "udp" && o.Via == ViaSoku && o.Size < MinUDPPayload {
			return o, Errorf(KindUsage, "size %d: a UDP message carries its own number and needs at least %d bytes", o.Size, MinUDPPayload).WithHint("use a larger --size or --protocol tcp")
		}
		if o.Size < 1 || o.Size > 64<<10 {
			return o, Errorf(KindUsage, "size %d: out of range", o.Size).WithHint("latency messages have 1 B to 64 KiB")
		}
		if o.Protocol == "udp" && o.Size > maxUDPPayload {
			return o, Errorf(KindUsage, "size %d: more than a UDP datagram holds", o.Size).WithHint("at most %d with --protocol udp", maxUDPPayload)
		}
	case TestConnect:
		return o.effectiveConnect()
	case TestUDP:
		if o.Via == ViaSoku && o.Size < MinUDPPayload {
			return o, Errorf(KindUsage, "size %d: a datagram carries its number and time and needs at least %d bytes", o.Size, MinUDPPayload).WithHint("use a larger --size")
		}
	}
	if o.Burst > 0 && o.Rate == 0 {
		return o, Errorf(KindUsage, "burst %d has no rate to keep", o.Burst).WithHint("give --rate")
	}
	if o.Burst > 0 && o.Via != ViaSoku && o.Via != ViaIperf3 {
		return o, Errorf(KindUsage, "burst does not go with via %s: it has no word for it", o.Via).WithHint("leave out one of them")
	}
	if o.Bytes > 0 && o.Omit > 0 && o.Via != ViaIperf3 {
		return o, Errorf(KindUsage, "bytes and omit exclude each other: a fixed amount has no part to leave out").WithHint("use --duration with --omit")
	}
	return o, nil
}

// Bounds on what a connect test may do to a port of somebody else's.
const (
	foreignRate     = 100    // connections a second unless asked otherwise
	foreignRateMost = 10_000 // and at most
)

func (o Options) effectiveConnect() (Options, error) {
	if o.Sources != "" {
		if o.Bind != "" {
			return o, Errorf(KindUsage, "bind and sources exclude each other").WithHint("give all addresses in --sources")
		}
		if _, err := ParseSources(o.Sources); err != nil {
			return o, err
		}
	}
	if o.ToPort == 0 {
		return o, nil
	}
	if o.Size > 0 {
		return o, Errorf(KindUsage, "size and to_port exclude each other: only a soku server answers the request").WithHint("leave out one of them")
	}
	if o.Entry != "auto" {
		return o, Errorf(KindUsage, "entry %s and to_port exclude each other: there is no soku server", o.Entry).WithHint("leave out one of them")
	}
	if o.RequestRate == 0 {
		o.RequestRate = foreignRate
	}
	if o.RequestRate > foreignRateMost {
		return o, Errorf(KindUsage, "request_rate %g: more than a port of somebody else's is to bear", o.RequestRate).WithHint("at most %d with --to-port; against a soku server there is no limit", foreignRateMost)
	}
	return o, nil
}

// checkLatency checks what goes together in a latency test.
func (o Options) checkLatency() error {
	if o.Flows > 1 && o.RequestRate > 0 {
		return Errorf(KindUsage, "flows and request_rate exclude each other: flows take turns, the next request leaves when a reply is in").WithHint("leave out one of them")
	}
	if o.OneWay && o.RequestRate > 0 {
		return Errorf(KindUsage, "one_way and request_rate exclude each other: requests on a schedule count from when they were due").WithHint("leave out one of them")
	}
	if o.RequestRate == 0 && o.Arrivals != "fixed" {
		return Errorf(KindUsage, "arrivals %s has no rate", o.Arrivals).WithHint("give --request-rate")
	}
	if o.Stamps == StampsSplit && o.RequestRate > 0 {
		return Errorf(KindUsage, "stamps %s and request_rate exclude each other: requests on a schedule count from when they were due", StampsSplit).WithHint("leave out one of them")
	}
	least := Size(MinNumberedMessage)
	if o.Protocol == "udp" {
		least = MinUDPPayload
	}
	if least += 16; o.FarTimes() && o.Size < least {
		return Errorf(KindUsage, "size %d: a reply with the times of the far end needs at least %d bytes over %s", o.Size, least, o.Protocol).WithHint("use a larger --size or leave out --one-way and --stamps %s", StampsSplit)
	}
	return nil
}

// StampsSplit is the value of the option stamps that asks for a [Split].
const StampsSplit = "split"

// FarTimes tells whether replies of a latency test carry the times of the far end.
func (o Options) FarTimes() bool { return o.OneWay || o.Stamps == StampsSplit }

// MinNumberedMessage is the least latency message over TCP that carries its number.
const MinNumberedMessage = 8

// paths are the ways into and out of the kernel that each test has.
var paths = map[Test]struct{ tx, rx []string }{
	TestTCP: {[]string{"auto", "write", "splice", "zerocopy", "sendfile"}, []string{"auto", "read", "discard"}},
	TestUDP: {[]string{"auto", "write", "batch", "gso"}, []string{"auto", "read", "batch", "gro"}},
}

func (o Options) checkPaths(test Test) error {
	has, ok := paths[test]
	if !ok {
		return nil
	}
	if !slices.Contains(has.tx, o.TX) {
		return Errorf(KindUsage, "tx %s does not apply to the %s test", o.TX, test).WithHint("use %s", strings.Join(has.tx, ", "))
	}
	if !slices.Contains(has.rx, o.RX) {
		return Errorf(KindUsage, "rx %s does not apply to the %s test", o.RX, test).WithHint("use %s", strings.Join(has.rx, ", "))
	}
	if test == TestTCP && o.Rate > 0 && o.TX != "auto" && o.TX != "write" && o.TX != "sendfile" {
		return Errorf(KindUsage, "tx %s cannot keep a rate: only write and sendfile can", o.TX).WithHint("leave out --tx, or --rate")
	}
	if o.Verify && (o.TX != "auto" && o.TX != "write" || o.RX != "auto" && o.RX != "read") {
		return Errorf(KindUsage, "verify needs bytes that are written and read, not tx %s and rx %s", o.TX, o.RX).WithHint("leave out --tx and --rx")
	}
	return nil
}

// MinUDPPayload is the header every measured datagram carries: magic, stream,
// sequence number and send time.
const MinUDPPayload = 28

const maxUDPPayload = 65507

// dscpNames are the code points with names: RFC 2474, 2597, 3246, 5865, 8622.
var dscpNames = map[string]int{
	"cs0": 0, "cs1": 8, "cs2": 16, "cs3": 24, "cs4": 32, "cs5": 40, "cs6": 48, "cs7": 56,
	"af11": 10, "af12": 12, "af13": 14, "af21": 18, "af22": 20, "af23": 22,
	"af31": 26, "af32": 28, "af33": 30, "af41": 34, "af42": 36, "af43": 38,
	"ef": 46, "va": 44, "le": 1,
}

func (o *Options) resolveDSCP() error {
	if o.DSCP == "" {
		return nil
	}
	point, ok := dscpNames[strings.ToLower(o.DSCP)]
	if !ok {
		n, err := strconv.Atoi(o.DSCP)
		if err != nil || n < 0 || n > 63 {
			return Errorf(KindUsage, "dscp %q is neither a name nor 0..63", o.DSCP).WithHint("names are ef, af11..af43, cs0..cs7, va and le")
		}
		point = n
	}
	if o.TOS != 0 && o.TOS != point<<2 {
		return Errorf(KindUsage, "dscp %s and tos %d contradict each other", o.DSCP, o.TOS).WithHint("give one of them; dscp %s is tos %d", o.DSCP, point<<2)
	}
	o.TOS = point << 2
	return nil
}

// Bounds on what a trace or mtu test may ask of a path.
const (
	mostTraceFlows = 64
	mostTries      = 100
)

// effectiveProbe checks what goes together in the tests trace and mtu, and gives
// probes their port.
func (o *Options) effectiveProbe(test Test) error {
	if o.Count < 1 {
		return Errorf(KindUsage, "count %d: a %s test wants at least 1", o.Count, test).WithHint("leave out --count, or give one")
	}
	if test == TestMTU && o.Probe == "tcp" {
		return Errorf(KindUsage, "probe tcp does not apply to the mtu test: a SYN has no payload").WithHint("use icmp or udp")
	}
	if test == TestMTU && o.Count > mostTries {
		return Errorf(KindUsage, "count %d: out of range for the mtu test", o.Count).WithHint("allowed: 1..%d", mostTries)
	}
	if o.Flows > mostTraceFlows {
		return Errorf(KindUsage, "flows %d: out of range for the trace test", o.Flows).WithHint("allowed: 1..%d", mostTraceFlows)
	}
	switch {
	case o.Probe == "icmp" && o.Port != 0:
		return Errorf(KindUsage, "port %d: echo requests have no port", o.Port).WithHint("leave it out, or use --probe udp")
	case o.Probe == "udp" && o.Port == 0:
		o.Port = 33434
	case o.Probe == "tcp" && o.Port == 0:
		o.Port = 443
	}
	return nil
}
