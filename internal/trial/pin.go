package trial

import (
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/sock"
)

// pinned notes on which processors the client's loops were kept. It returns err, or
// why one could not be kept.
func pinned(pins *sock.Pins, r *measure.Result, err error) error {
	r.Hosts.Client.PinnedCPUs = pins.Pinned()
	if err == nil {
		err = pins.Err()
	}
	return err
}

// warnUnpinned says at which end nothing was pinned though that was asked for: an
// older soku does not know how, and connections of a server's main port are taken
// by a loop that is not the test's own.
func warnUnpinned(r *measure.Result) {
	client, server, err := option.ParsePin(r.Options.Pin)
	if err != nil {
		return
	}
	for _, end := range []struct {
		where measure.Where
		asked option.Pinning
		host  *measure.Host
	}{{measure.AtClient, client, r.Hosts.Client}, {measure.AtServer, server, r.Hosts.Server}} {
		if end.asked.On && end.host != nil && len(end.host.PinnedCPUs) == 0 {
			r.Findings.Add(finding.NotPinned, end.where, nil)
		}
	}
}
