package iperf3

import (
	"net"
	"os"
	"testing"

	"soku/internal/measure"
)

func TestAnUnreachableHostIsReportedWithTheSystemsError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	_, refused := net.Dial("tcp", l.Addr().String())
	for want, cause := range map[string]error{"Connection refused": refused, "Connection timed out": os.ErrDeadlineExceeded} {
		if got := reason(measure.TextError(measure.KindUnreachable, "connect 192.0.2.1:5201", "").WithCause(cause)); got != want {
			t.Errorf("%v: %q, want %q", cause, got, want)
		}
	}
	if got := reason(measure.TextError(measure.KindUnreachable, "find the address of x: refused", "")); got != "find the address of x: refused" {
		t.Errorf("without a cause: %q", got)
	}
}
