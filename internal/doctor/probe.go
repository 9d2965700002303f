package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"time"

	"soku/internal/engine/latency"
	"soku/internal/engine/ping"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/trial"
	"soku/internal/wire/native"
)

// Bounds of what is asked of the path.
const (
	connectTime = 3 * time.Second  // an answer to a SYN, with one retransmission
	trialTime   = 10 * time.Second // of the short test, with its turn at a server that is busy
	mtuTime     = 10 * time.Second
	clockTime   = 2 * time.Second
	roundTrips  = 100 // per second: a load that disturbs no other traffic
	echoes      = 3
)

// probe asks the path and the far end, which may report itself: server is nil where it does not.
// What was found is in p, and the round trip in w.
func (c *Config) probe(ctx context.Context, p *Path, w *Wanted) (server *measure.Host) {
	r := c.run(ctx, trialTime, measure.TestLatency, shortTest())
	p.Err, server = r.Error, r.Hosts.Server
	rtt := func(from string, r *measure.Result) float64 {
		if r.Summary.RTT == nil {
			return 0
		}
		if w.RTTNs == 0 {
			w.RTTNs, w.RTTFrom = r.Summary.RTT.P50, from
		}
		return r.Summary.RTT.P50
	}
	rtt(FromLatency, r)
	if r.Error != nil && ctx.Err() == nil {
		o := option.Defaults(measure.TestPing)
		o.Count, o.Timeout, o.Duration = echoes, measure.Duration(time.Second), 0
		if r := c.run(ctx, trialTime, measure.TestPing, o); r.Latency != nil || measure.KindOf(r.Error) == measure.KindUnreachable {
			p.Echo = &Echo{RTTNs: rtt(FromPing, r)}
			if r.Latency != nil {
				p.Echo.Received = r.Latency.Received
			}
		}
	}
	if p.Err == nil {
		p.Offset = c.clock(ctx, net.JoinHostPort(p.Address, strconv.Itoa(w.Port)))
	}
	if r := c.run(ctx, mtuTime, measure.TestMTU, option.Defaults(measure.TestMTU)); r.Error != nil {
		p.MTUErr = r.Error
	} else {
		p.MTU = r.PathMTU
	}
	return server
}

// shortTest are round trips for half a second, whose result has the facts of both hosts.
func shortTest() measure.Options {
	o := option.Defaults(measure.TestLatency)
	o.Duration, o.ConnectTimeout, o.RequestRate = measure.Duration(sampleTime), measure.Duration(connectTime), roundTrips
	own := latency.OptionsOf(o)
	own.Spin = "off"
	o.Own = own
	return o
}

var _ = ping.Options{} // registers the test

// run runs a test with the far end for at most some time.
func (c *Config) run(ctx context.Context, most time.Duration, test measure.Test, o measure.Options) *measure.Result {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	host := c.Host
	if !option.HasServer(test) {
		host = c.name() // echo has no port
	}
	return trial.Run(ctx, trial.Spec{Test: test, Options: o, Host: host, Token: c.Token, TLS: c.TLS, Version: c.Version}, trial.Hooks{})
}

// name is the far end without its port.
func (c *Config) name() string {
	if name, _, err := net.SplitHostPort(c.Host); err == nil {
		return name
	}
	return c.Host
}

// clock compares the clock of the far end with this one, by the Date header that every HTTP server
// writes (RFC 9110, section 6.6.1). It returns nil if there is no such header.
func (c *Config) clock(ctx context.Context, address string) *Offset {
	ctx, cancel := context.WithTimeout(ctx, clockTime)
	defer cancel()
	scheme := "http://"
	if c.TLS != nil {
		scheme = "https://"
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+address+native.InfoPath, nil)
	if err != nil {
		return nil
	}
	q.Header.Set(native.ProtocolHeader, native.Name)
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	transport := &http.Transport{TLSClientConfig: c.verified(), DisableKeepAlives: true, Protocols: &protocols} // no proxy
	began := time.Now()
	answer, err := transport.RoundTrip(q)
	if err != nil {
		return nil
	}
	_ = answer.Body.Close()
	return offsetOf(answer.Header.Get("Date"), began, time.Now())
}

// verified is the TLS of the far end by its name; nil without TLS.
func (c *Config) verified() *tls.Config {
	if c.TLS == nil {
		return nil
	}
	out := c.TLS.Clone()
	out.ServerName = cmp.Or(out.ServerName, c.name()) // the connection goes to its address
	return out
}

// offsetOf is how far the clock that wrote date between two moments of this one is ahead. The date
// leaves out the part of the second.
func offsetOf(date string, began, ended time.Time) *Offset {
	at, err := http.ParseTime(date)
	if err != nil {
		return nil
	}
	return &Offset{LeastNs: int64(at.Sub(ended.Round(0))), MostNs: int64(at.Add(time.Second).Sub(began.Round(0)))}
}
