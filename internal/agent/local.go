package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"time"

	"soku/internal/measure"
	"soku/internal/trial"
)

// Local runs trials in this process. Trials that run at the same time have no processor cost.
type Local struct {
	Version string // of this program
	// Floor returns the stored loopback baseline of a host with these facts, or nil if
	// there is none; nil looks nothing up.
	Floor func(measure.Facts) *measure.HostFloor
}

// Run implements [Place].
func (l Local) Run(ctx context.Context, s Spec, h Hooks) *measure.Result {
	var started func(time.Time)
	if h.Started != nil {
		started = func(at time.Time) { h.Started(at, 0) }
	}
	var ready, begin func(context.Context) error
	if h.Ready != nil {
		var at time.Time
		ready = func(ctx context.Context) (err error) {
			if at, err = h.Ready(ctx, 0); err == nil && !at.IsZero() {
				err = waitUntil(ctx, at.Add(-settles))
			}
			return err
		}
		begin = func(ctx context.Context) error { return s.awaitInstant(ctx, at) }
	}
	t := s.Trial
	return trial.Run(ctx, trial.Spec{
		Test: s.Test, Options: s.Options, Host: s.Host, Client: s.Client, Server: s.Server,
		Token: s.Access.Token, TLS: s.Access.tlsConfig(), Version: l.Version, Identity: &t, Result: s.Result, Floor: l.Floor, Baselines: s.Baselines,
	}, trial.Hooks{Observe: h.Progress, Ready: ready, Begin: begin, Started: started})
}

// tlsConfig is nil for no TLS. A certificate authority that does not parse trusts
// no certificate, so that the trial fails with the reason.
func (a Access) tlsConfig() *tls.Config {
	switch {
	case a.Certificate != "":
		return a.Certificate.Client()
	case !a.TLS:
		return nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.TLSCA != "" {
		cfg.RootCAs = x509.NewCertPool()
		cfg.RootCAs.AppendCertsFromPEM([]byte(a.TLSCA))
	}
	return cfg
}
