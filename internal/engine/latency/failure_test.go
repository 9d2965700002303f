package latency

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"soku/internal/engine/latency/requests"
	"soku/internal/measure"
)

func TestEveryFailureOfTheFarEndHasASentenceAndANextStep(t *testing.T) {
	c := &client{peer: "192.0.2.1:7658", Counts: requests.Counts{Received: 3}}
	for err, code := range map[error]string{
		io.EOF: "latency.closed", requests.ErrSilent: "latency.no_more_replies", requests.ErrGone: "latency.port_closed",
		requests.ErrDisorder: "latency.wrong_reply", requests.ErrUninvited: "latency.unrequested_reply", syscall.ECONNRESET: "latency.broken",
	} {
		got := measure.AsError(c.broken(t.Context(), err), "")
		if got.Code != code || !strings.HasPrefix(got.Message, "measure latency to 192.0.2.1:7658: after 3 round trips: ") || got.Hint == "" {
			t.Errorf("%v: %s: %q, hint %q; want the code %s", err, got.Code, got.Message, got.Hint, code)
		}
		if !errors.Is(err, io.EOF) && !errors.Is(got, err) {
			t.Errorf("%s does not wrap %v", got.Code, err)
		}
	}
}
