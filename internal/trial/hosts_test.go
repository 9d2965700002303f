package trial_test

import (
	"runtime"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/trial"
)

func TestAResultHasTheSeriesAndDetailsOfBothHosts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems know little of sockets and interfaces")
	}
	s := specOf(measure.TestTCP, startServer(t))
	s.Options.Duration = measure.Duration(300 * time.Millisecond)
	for _, on := range []string{measure.SeriesOn, measure.SeriesOff} {
		s.Options.Series = on
		r := trial.Run(t.Context(), s, trial.Hooks{})
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		client, bad := r.Hosts.Client.Series.Values()
		server, worse := r.Hosts.Server.Series.Values()
		if bad != nil || worse != nil {
			t.Fatal(bad, worse)
		}
		if on == measure.SeriesOff {
			if len(client.AtNs)+len(server.AtNs) > 0 {
				t.Errorf("without a series the client has %d readings and the server %d", len(client.AtNs), len(server.AtNs))
			}
			continue
		}
		if sent := client.Total("forward.0.sent_bytes"); sent < r.Summary.ReceivedBytes/2 || client.Columns["process.run_ns"] == nil {
			t.Errorf("client: %d bytes sent, columns %v", sent, client.Columns)
		}
		if server.Columns["forward.0.receive_buffer_bytes"] == nil || server.Columns["control.rtt_ns"] == nil {
			t.Errorf("server: columns %v", server.Columns)
		}
		for name, h := range map[string]*measure.Host{"client": r.Hosts.Client, "server": r.Hosts.Server} {
			if f := h.Facts; f.Processor == nil || f.Limits == nil || f.TimeSync == nil || f.RouteMTU != f.MTU || f.MTU == 0 {
				t.Errorf("%s: facts %+v", name, f)
			}
		}
	}
}
