package server

import (
	"errors"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/test/tier"
)

// Options of a client are set without rights that only this server has.
func TestAClientDoesNotGetBuffersByTheRightsOfTheServer(t *testing.T) {
	most := tier.NeedsRootBuffers(t)
	s := serveWith(t, Config{}, realEngines())
	for _, test := range []measure.Test{measure.TestTCP, measure.TestUDP} {
		session := s.open(test, options(test, func(o *measure.Options) { o.Window = measure.Size(4 * most) }))
		var err error
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
