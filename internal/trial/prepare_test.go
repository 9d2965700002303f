package trial

import (
	"net"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestAResultWithoutAServerTellsWhereItWasMeasured(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	_ = l.Close()
	r := Run(t.Context(), Spec{Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP), Host: nobody}, Hooks{})
	if r.Error == nil || r.Error.Kind != measure.KindUnreachable {
		t.Errorf("the error is %v", r.Error)
	}
	if r.Hosts.Client == nil || r.Hosts.Client.Facts.OS == "" || r.Path.Client.Name == "" || r.Path.Client.Address != "127.0.0.1" {
		t.Errorf("measured at %+v, %+v", r.Path.Client, r.Hosts.Client)
	}
}
