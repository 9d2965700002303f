//go:build !linux

package probe

import (
	"net/netip"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestOtherSystemsSayWhatToDoInstead(t *testing.T) {
	_, err := Open(Config{What: "trace", Target: netip.MustParseAddr("192.0.2.1"), Options: option.Defaults(measure.TestTrace), Flows: 1})
	if measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), "not supported on") || !strings.Contains(err.Error(), "soku ping 192.0.2.1") {
		t.Errorf("got %v", err)
	}
}
