package broker

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// Options are how a [Broker] runs.
type Options struct {
	Listen string      // host:port for NATS; port 0: any that is free, no host: all addresses
	TLS    *tls.Config // certificate of the listener; at least TLS 1.3 is used

	Operator      string            // JWT of the operator who is trusted
	SystemAccount string            // public key
	Accounts      map[string]string // JWTs by public key
	Folder        string            // where changes of accounts are kept; the broker's alone

	Connections int          // at a time; 0: MaxConnections
	Log         *slog.Logger // nil: nothing is logged
}

// Bounds of a broker.
const (
	MaxConnections = 20_000
	maxPayload     = fleet.MaxMessage + 8<<10 // with header fields
	maxPending     = 64 << 20                 // bytes that wait for a slow receiver, which is cut off then
	maxControl     = 4 << 10                  // of a line of the protocol
	maxAccounts    = 16
	authTimeout    = 5 * time.Second // of TLS, and again of the proof
	writeDeadline  = 10 * time.Second
	pingEvery      = 30 * time.Second      // two pings without an answer end a connection
	fetchTimeout   = 10 * time.Millisecond // for an account that is not known here: there is no other server to ask
	startTimeout   = 10 * time.Second
)

// Broker is a server that runs. It is safe for concurrent use.
type Broker struct {
	server    *server.Server
	address   string
	webSocket *url.URL
}

// Start runs a broker until Close. It returns when both listeners take connections. An error has kind usage for options that
// are missing, or unreachable if the broker cannot listen, or internal.
func Start(ctx context.Context, o Options) (*Broker, error) {
	log := newLogger(o.Log)
	options, err := o.server()
	if err != nil {
		return nil, err
	}
	resolver, err := server.NewDirAccResolver(o.Folder, maxAccounts, time.Minute, server.NoDelete, server.FetchTimeout(fetchTimeout))
	if err != nil {
		return nil, measure.Fail(measure.KindStore, "broker.folder", measure.Figures{"folder": o.Folder, "cause": err})
	}
	for id, jwt := range o.Accounts {
		// SaveAcc, not Store: what the caller says counts, also if the clock was set back since.
		if err := resolver.SaveAcc(id, jwt); err != nil {
			return nil, measure.Fail(measure.KindStore, "broker.folder", measure.Figures{"folder": o.Folder, "cause": err})
		}
	}
	options.AccountResolver = resolver
	tried, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen) // the server logs a port in use besides, and names it twice
	if err != nil {
		return nil, measure.Fail(measure.KindUnreachable, "broker.listen", measure.Figures{"address": o.Listen, "cause": cmp.Or(errors.Unwrap(err), err)})
	}
	_ = tried.Close()
	s, err := server.NewServer(options)
	if err != nil {
		return nil, measure.Fail(measure.KindInternal, "broker.start", measure.Figures{"cause": err})
	}
	s.SetLoggerV2(log, false, false, false)
	s.Start()
	b := &Broker{server: s}
	if err := log.failure(); err != nil || !s.ReadyForConnections(startTimeout) || ctx.Err() != nil {
		b.Close()
		if ctx.Err() != nil {
			return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
		}
		return nil, measure.Fail(measure.KindUnreachable, "broker.listen", measure.Figures{"address": o.Listen, "cause": log.text()})
	}
	b.address = s.Addr().String()
	if b.webSocket, err = url.Parse(s.WebsocketURL()); err != nil {
		b.Close()
		return nil, measure.Fail(measure.KindInternal, "broker.start", measure.Figures{"cause": err})
	}
	b.webSocket.Scheme = "http"
	return b, nil
}

// server makes the options of the server.
func (o Options) server() (*server.Options, error) {
	if o.TLS == nil || o.Operator == "" || o.Accounts[o.SystemAccount] == "" || o.Folder == "" {
		return nil, measure.Fail(measure.KindUsage, "broker.options", nil)
	}
	operator, err := jwt.DecodeOperatorClaims(o.Operator)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "broker.operator", measure.Figures{"cause": err})
	}
	host, portText, err := net.SplitHostPort(o.Listen)
	port, numberErr := strconv.ParseUint(portText, 10, 16)
	if err != nil || numberErr != nil {
		return nil, measure.Fail(measure.KindUsage, "broker.address", measure.Figures{"address": o.Listen})
	}
	secure := o.TLS.Clone()
	secure.MinVersion = max(secure.MinVersion, tls.VersionTLS13)
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, measure.Fail(measure.KindStore, "broker.folder", measure.Figures{"folder": o.Folder, "cause": err})
	}
	if o.Connections == 0 {
		o.Connections = MaxConnections
	}
	options := &server.Options{
		ServerName: "soku", Host: host, Port: int(port), NoSigs: true,
		TLSConfig: secure, TLSTimeout: authTimeout.Seconds(), AuthTimeout: authTimeout.Seconds(),
		TrustedOperators: []*jwt.OperatorClaims{operator}, SystemAccount: o.SystemAccount,
		MaxConn: o.Connections, MaxPayload: maxPayload, MaxPending: maxPending, MaxControlLine: maxControl, MaxClosedClients: 100,
		WriteDeadline: writeDeadline, PingInterval: pingEvery, MaxPingsOut: 2,
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true, SameOrigin: true, AuthTimeout: authTimeout.Seconds(), HandshakeTimeout: authTimeout},
	}
	if port == 0 {
		options.Port = server.RANDOM_PORT
	}
	return options, nil
}

// Address is where NATS is listened for, as host:port.
func (b *Broker) Address() string { return b.address }

// WebSocketAddress is where NATS over WebSocket is listened for, without TLS and on loopback alone, as host:port.
func (b *Broker) WebSocketAddress() string { return b.webSocket.Host }

// WebSocket is the handler of the hub's HTTPS server for [fleet.PathNATS]: it passes connections on to the broker.
func (b *Broker) WebSocket() http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			// The broker answers every path alike but a few of its own, which are for servers.
			r.Out.URL = &url.URL{Scheme: b.webSocket.Scheme, Host: b.webSocket.Host, Path: "/"}
			r.Out.Host = r.In.Host // for the check of the origin
			if from, err := netip.ParseAddrPort(r.In.RemoteAddr); err == nil {
				r.Out.Header.Set("X-Forwarded-For", from.Addr().Unmap().WithZone("").String()) // what the broker logs
			}
		},
		Transport:    &http.Transport{DisableKeepAlives: true, ResponseHeaderTimeout: authTimeout},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
}

// InProcessConn is a connection without a socket, for [nats.InProcessServer].
func (b *Broker) InProcessConn() (net.Conn, error) { return b.server.InProcessConn() }

// Connections is how many there are, that of the hub and its system connection too.
func (b *Broker) Connections() int { return b.server.NumClients() }

// Close ends all connections and waits for the goroutines of the server.
func (b *Broker) Close() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}
