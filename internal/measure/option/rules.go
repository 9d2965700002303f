package option

import (
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
)

// rules are what options that tests share must hold to together. Where a test lacks
// such an option it is zero, and the rule holds.
var rules = []func(*measure.Options, *Spec) error{checkVia, resolveDSCP, checkPaths, checkSocket, checkPin, checkBurst, checkAmount, checkSchedule}

func checkPin(o *measure.Options, _ *Spec) error {
	_, _, err := ParsePin(o.Pin)
	return err
}

// checkPaths refuses ways into and out of the kernel that the test does not have.
func checkPaths(o *measure.Options, s *Spec) error {
	if s.TX == nil {
		return nil
	}
	if !slices.Contains(s.TX, o.TX) {
		return measure.Fail(measure.KindUsage, "option.tx.not_of_test", measure.Figures{"tx": o.TX, "test": s.Name, "paths": s.TX})
	}
	if !slices.Contains(s.RX, o.RX) {
		return measure.Fail(measure.KindUsage, "option.rx.not_of_test", measure.Figures{"rx": o.RX, "test": s.Name, "paths": s.RX})
	}
	return nil
}

func checkBurst(o *measure.Options, _ *Spec) error {
	if o.Burst > 0 && o.Rate == 0 {
		return measure.Fail(measure.KindUsage, "option.burst.no_rate", measure.Figures{"burst_packets": o.Burst})
	}
	if o.Burst > 0 && o.Via != ViaSoku && o.Via != ViaIperf3 {
		return measure.Fail(measure.KindUsage, "option.burst.via", measure.Figures{"via": o.Via}).WithHintCode("leave_out_one", nil)
	}
	return nil
}

func checkAmount(o *measure.Options, _ *Spec) error {
	if o.Bytes > 0 && o.Omit > 0 && o.Via != ViaIperf3 {
		return measure.Fail(measure.KindUsage, "option.bytes.omit", nil)
	}
	return nil
}

// dscpNames are the code points with names: RFC 2474, 2597, 3246, 5865, 8622.
var dscpNames = map[string]int{
	"cs0": 0, "cs1": 8, "cs2": 16, "cs3": 24, "cs4": 32, "cs5": 40, "cs6": 48, "cs7": 56,
	"af11": 10, "af12": 12, "af13": 14, "af21": 18, "af22": 20, "af23": 22,
	"af31": 26, "af32": 28, "af33": 30, "af41": 34, "af42": 36, "af43": 38,
	"ef": 46, "va": 44, "le": 1,
}

// resolveDSCP writes the code point into the TOS byte.
func resolveDSCP(o *measure.Options, _ *Spec) error {
	if o.DSCP == "" {
		return nil
	}
	point, ok := dscpNames[strings.ToLower(o.DSCP)]
	if !ok {
		n, err := strconv.Atoi(o.DSCP)
		if err != nil || n < 0 || n > 63 {
			return measure.Fail(measure.KindUsage, "option.dscp.unknown", measure.Figures{"dscp": o.DSCP})
		}
		point = n
	}
	if o.TOS != 0 && o.TOS != point<<2 {
		return measure.Fail(measure.KindUsage, "option.dscp.tos", measure.Figures{"dscp": o.DSCP, "tos": o.TOS, "tos_of_dscp": point << 2})
	}
	o.TOS = point << 2
	return nil
}
