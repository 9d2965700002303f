package server

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/test/tier"
)

// What a client asks for is not set by rights that this server has and its client has not.
func TestAClientDoesNotGetBuffersByTheRightsOfTheServer(t *testing.T) {
	tier.NeedsRoot(t, "buffers beyond the system's limits")
	b, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	if err != nil {
		t.Skip(err)
	}
	most, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	s := serveWith(t, Config{}, realEngines())
	for _, test := range []measure.Test{measure.TestTCP, measure.TestUDP} {
		session := s.open(test, options(test, func(o *measure.Options) { o.Window = measure.Size(4 * most) }))
		if test == measure.TestUDP {
			_, err = session.UDP(t.Context())
		} else {
			_, err = session.TCP(t.Context())
		}
		var e *measure.Error
		if !errors.As(err, &e) || e.Code != "server.here" || !strings.Contains(e.Message, "SO_SNDBUF") {
			t.Errorf("%s: got %v", test, err)
		}
		_ = session.Close()
	}
	s.free()
}
