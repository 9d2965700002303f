package iperf3

import (
	"fmt"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func tos(s *Settings, v string) error {
	n, err := strconv.ParseInt(cPrefix(v), 0, 32)
	if err != nil || n < 0 || n > 255 {
		return problem("bad TOS value (must be between 0 and 255 inclusive)")
	}
	s.TOS = int(n)
	return nil
}

// cPrefix is v without the prefix 0o, which C does not know.
func cPrefix(v string) string {
	if len(v) > 1 && v[0] == '0' && (v[1] == 'o' || v[1] == 'O' || v[1] == 'b' || v[1] == 'B') {
		return ""
	}
	return v
}

func flowLabel(s *Settings, v string) error {
	n, err := strconv.ParseInt(cPrefix(v), 0, 32)
	if err != nil || n < 1 || n > option.MaxFlowLabel {
		return problem("unable to set IPv6 flow label").WithHintCode("iperf3.option.flow_label", measure.Figures{"most": fmt.Sprintf("%#x", option.MaxFlowLabel)})
	}
	s.FlowLabel = int(n)
	return nil
}

func dscp(s *Settings, v string) error {
	if n, ok := serviceByName(strings.ToLower(v)); ok {
		s.TOS = n
		return nil
	}
	n, err := strconv.ParseInt(cPrefix(v), 0, 32)
	if err != nil || n < 0 || n > 63 {
		return problem("bad DSCP value (numeric: 0-63 inclusive, symbolic: one of [af11-13, af21-23, af31-33, af41-43, cs1-7, ef, va, lowdelay, throughput, reliability])")
	}
	s.TOS = int(n) << 2
	return nil
}

// services are the code points and the words that have a name of their own.
var services = map[string]int{"ef": 46 << 2, "va": 44 << 2, "lowdelay": 0x10, "throughput": 0x08, "reliability": 0x04}

// serviceByName is the type-of-service byte of a code point (RFC 2474, 2597,
// 3246, 5865) or of the older words of RFC 1349.
func serviceByName(name string) (int, bool) {
	if n, ok := services[name]; ok {
		return n, true
	}
	if len(name) == 3 && name[:2] == "cs" && name[2] >= '0' && name[2] <= '7' {
		return int(name[2]-'0') << 5, true
	}
	if len(name) == 4 && name[:2] == "af" && name[2] >= '1' && name[2] <= '4' && name[3] >= '1' && name[3] <= '3' {
		return int(name[2]-'0')<<5 | int(name[3]-'0')<<3, true
	}
	return 0, false
}
