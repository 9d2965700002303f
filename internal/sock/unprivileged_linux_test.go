package sock

import (
	"net"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/test/tier"
)

// Options that come from the network get no more than that, though this is root.
func TestSettingsOfOthersStayWithinWhatTheSystemHas(t *testing.T) {
	most := tier.NeedsRootBuffers(t)
	beyond := Settings{Window: measure.Size(2 * most)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, network := range []string{"tcp", "udp"} {
		c, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := beyond.Apply(c); err != nil {
			t.Errorf("%s: with rights: %v", network, err)
		}
		own := beyond
		own.Unprivileged = true
		if err := own.Apply(c); measure.KindOf(err) != measure.KindPermission || !strings.Contains(err.Error(), "SO_SNDBUF") {
			t.Errorf("%s: got %v", network, err)
		}
		if send, _, _ := Buffers(c); send > 2*most {
			t.Errorf("%s: a buffer of %d bytes, the limit is %d", network, send, most)
		}
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = Settings{Congestion: "no-such-thing", Unprivileged: true}.Apply(c)
	if measure.KindOf(err) != measure.KindUsage {
		t.Errorf("got %v, want an error of kind %s", err, measure.KindUsage)
	}
	for _, name := range congestionControls("available") {
		if err := (Settings{Congestion: name, Unprivileged: true, NoDelay: true}).Apply(c); err != nil {
			t.Errorf("%s is loaded: %v", name, err)
		}
	}
}
