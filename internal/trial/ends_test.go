package trial

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestThePortOfTheServerIsThatOfTheProtocolUnlessAnotherIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		host, via string
		port      int
		want      int
	}{
		{"127.0.0.1", "", 0, 7658}, {"127.0.0.1", option.ViaEthr, 0, 8888}, {"127.0.0.1", "", 9000, 9000}, {"127.0.0.1:9001", "", 9000, 9001},
	} {
		o := option.Defaults(measure.TestLatency)
		o.Via, o.Port = c.via, c.port
		_, server, port, err := Ends(t.Context(), c.host, o)
		if err != nil || port != c.want || server.String() != "127.0.0.1" {
			t.Errorf("%+v: %s, port %d, %v", c, server, port, err)
		}
	}
}
