package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/text"
)

// Times of a connection to the broker. A connection that is lost is noticed within pingEvery times
// pingsLost.
const (
	dialTimeout = 5 * time.Second
	pingEvery   = 20 * time.Second
	pingsLost   = 2
)

// errRefused is a broker that does not take the permission.
var errRefused = errors.New("the broker refuses the permission")

// dial connects to a broker, over TLS or, where that is not reached, over WebSocket through the
// hub's HTTPS port. It does not connect again by itself. An error wraps errRefused if a broker
// refused, and has kind unreachable otherwise.
func (d *daemon) dial(ctx context.Context) (*nats.Conn, error) {
	m := d.state.membership()
	var direct []string
	for _, address := range m.NATS {
		if host, ok := cutScheme(address); ok {
			direct = append(direct, "tls://"+host)
		}
	}
	nc, err := d.dialTo(ctx, strings.Join(direct, ","), brokerTLS(m))
	if err == nil || errors.Is(err, errRefused) {
		d.complaints.over("websocket")
		return nc, err
	}
	hub := d.https.url()
	host, _ := strings.CutPrefix(hub, "https://")
	// The server there is that of HTTPS, which may be a proxy with a certificate of its own.
	nc, wsErr := d.dialTo(ctx, "wss://"+host, m.Pin.Client(), nats.ProxyPath(fleet.PathNATS))
	if wsErr == nil {
		d.complaints.once("websocket", "", d.Catalogue.Sentence("daemon.websocket", text.Args{"Address": strings.Join(direct, ", "), "Hub": hub, "Error": err.Error()}))
		return nc, nil
	}
	if errors.Is(wsErr, errRefused) {
		return nil, wsErr
	}
	return nil, measure.Fail(measure.KindUnreachable, "daemon.broker.unreachable", measure.Figures{
		"address": strings.Join(direct, ", "), "cause": err, "websocket": "wss://" + host + fleet.PathNATS, "websocket_cause": wsErr.Error(),
	})
}

// dialTo connects to one of the addresses, unless ctx ends before.
func (d *daemon) dialTo(ctx context.Context, addresses string, config *tls.Config, more ...nats.Option) (*nats.Conn, error) {
	dialing := &dialer{ctx: ctx}
	defer dialing.release()
	nc, err := nats.Connect(addresses, append(more,
		nats.SetCustomDialer(dialing),
		nats.Name("soku agent "+d.Version), nats.Secure(config), nats.Timeout(dialTimeout),
		nats.UserJWT(func() (string, error) { return d.state.membership().JWT, nil }, d.state.key.Sign),
		nats.CustomInboxPrefix(fleet.Down(d.state.id, fleet.DownAnswer)),
		nats.NoReconnect(), nats.IgnoreAuthErrorAbort(), nats.IgnoreDiscoveredServers(),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsLost), nats.NoEcho(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the default prints
	)...)
	if refusedBy(err) {
		return nil, errors.Join(errRefused, err)
	}
	return nc, err
}

// dialer ends the attempts of a client to connect with ctx. Each address gets dialTimeout. It is for one
// goroutine.
type dialer struct {
	ctx   context.Context
	stops []func() bool
}

// Dial implements [nats.CustomDialer].
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(d.ctx, network, address)
	if err == nil {
		d.stops = append(d.stops, context.AfterFunc(d.ctx, func() { _ = c.Close() }))
	}
	return c, err
}

// release lets the connections outlive ctx.
func (d *dialer) release() {
	for _, stop := range d.stops {
		stop()
	}
}

// refusedBy reports whether the error of a connection is that its permission is not taken.
func refusedBy(err error) bool {
	for _, refusal := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// cutScheme is the host and port of an address of a broker. Only brokers that speak TLS are used.
func cutScheme(address string) (host string, ok bool) {
	scheme, host, ok := strings.Cut(address, "://")
	return host, ok && (scheme == "tls" || scheme == "nats") && host != "" && !strings.ContainsAny(host, "/@,")
}

// brokerTLS is how the broker proves who it is: its certificate is one of those that came with the
// admission or has the hub's pin, or an authority among the former signed it for the name; where
// none came, public authorities decide.
func brokerTLS(m membership) *tls.Config {
	roots := x509.NewCertPool()
	known := map[fleet.Pin]bool{m.Pin: true}
	for rest := []byte(m.Certificates); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			roots.AddCert(c)
			known[fleet.PinOf(c.Raw)] = true
		}
	}
	if m.Certificates == "" {
		roots = nil // those of the system
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	config.InsecureSkipVerify = true //nolint:gosec // VerifyConnection decides
	config.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return measure.Fail(measure.KindRefused, "fleet.pin.none", nil)
		}
		leaf := s.PeerCertificates[0]
		if known[fleet.PinOf(leaf.Raw)] {
			return nil
		}
		options := x509.VerifyOptions{Roots: roots, DNSName: s.ServerName, Intermediates: x509.NewCertPool()}
		for _, c := range s.PeerCertificates[1:] {
			options.Intermediates.AddCert(c)
		}
		_, err := leaf.Verify(options)
		return err
	}
	return config
}
