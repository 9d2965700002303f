package native

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"unicode"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// Every failure a client can meet becomes one sentence here.

// explainDial says why a connection of the given network ("tcp", "udp") to
// addr could not be opened.
func explainDial(ctx context.Context, network, addr string, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	host, port, splitErr := net.SplitHostPort(addr)
	if splitErr != nil {
		return measure.Errorf(measure.KindUsage, "address %q: %w", addr, err).WithHint("write host:port, for example 10.0.0.4:7658")
	}
	unreachable := func(why string) *measure.Error {
		return measure.Errorf(measure.KindUnreachable, "connect %s: %s", addr, why)
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		why := dns.Err
		switch {
		case dns.IsNotFound:
			why = "no such host"
		case dns.IsTimeout:
			why = "the name server did not answer in time"
		}
		return measure.Errorf(measure.KindUnreachable, "find the address of %s: %s", host, why).WithHint("check the name, or give an IP address")
	}
	proto := strings.ToUpper(network)
	switch {
	case errors.Is(err, errnoRefused):
		return unreachable("refused").WithHint(`is "soku server" running there, and is %s %s open?`, proto, port)
	case sock.TimedOut(err):
		return unreachable("no answer in time").WithHint("is the host up, and does a firewall or security group let %s %s through?", proto, port)
	case errors.Is(err, errnoNoHost), errors.Is(err, errnoNoNetwork):
		return unreachable("no route to that address").WithHint("check the address, the routes of this host and the address family (-4, -6)")
	case errors.Is(err, errnoNoAddress):
		return measure.Errorf(measure.KindUsage, "connect %s: the local address to measure from is not usable here", addr).WithHint("give an address of this host and of the same family as the server's")
	case errors.Is(err, errnoWrongFamily):
		return measure.Errorf(measure.KindUsage, "connect %s: the address family does not fit", addr).WithHint("check -4, -6 and the address to measure from")
	case errors.Is(err, errnoNoFile), errors.Is(err, errnoNoFileLeft):
		return measure.Errorf(measure.KindPermission, "connect %s: this host has no file descriptor left for one more connection", addr).WithHint("raise the limit (ulimit -n, LimitNOFILE=) or use fewer --streams")
	case errors.Is(err, errnoNotAllowed), errors.Is(err, errnoForbidden):
		return measure.Errorf(measure.KindPermission, "connect %s: the operating system of this host does not permit it", addr).WithHint("does a local firewall forbid outgoing connections?")
	}
	var family *net.AddrError
	if errors.As(err, &family) {
		return measure.Errorf(measure.KindUsage, "connect %s: %s", addr, family.Err).WithHint("check the address and -4 or -6")
	}
	return unreachable(innermost(err))
}

// explainTLS says why the TLS handshake failed.
func explainTLS(ctx context.Context, addr string, err error) error {
	if cause := wire.Ended(ctx); cause != nil {
		return cause
	}
	refused := func(format string, args ...any) *measure.Error {
		return measure.Errorf(measure.KindRefused, "TLS to %s: "+format, append([]any{addr}, args...)...)
	}
	var (
		header    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		remote    *net.OpError
	)
	switch {
	case sock.TimedOut(err):
		return measure.Errorf(measure.KindUnreachable, "TLS to %s: no answer in time", addr).WithHint("does the server speak TLS?")
	case errors.As(err, &header), sock.Closed(err):
		return refused("the server does not speak TLS").WithHint("connect without TLS, or start the server with a certificate")
	case errors.As(err, &authority):
		return refused("the server's certificate is signed by an authority this host does not trust").WithHint("give the authority's certificate")
	case errors.As(err, &hostname):
		return refused("the server's certificate is for another name: %s", innermost(err)).WithHint("connect by the name in the certificate")
	case errors.As(err, &invalid):
		return refused("the server's certificate is not valid: %s", innermost(err)).WithHint("check its dates and the clock of this host")
	case errors.As(err, &remote) && remote.Op == "remote error": // an alert of the server
		return refused("the server ended the handshake: %s", innermost(err)).WithHint("does it speak TLS, and does it ask for a certificate of the client?")
	}
	return refused("%s", innermost(err))
}

// explainExchange says why a request on an open control connection got no
// answer that can be used.
func explainExchange(ctx context.Context, addr string, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	switch {
	case sock.TimedOut(err):
		return measure.Errorf(measure.KindUnreachable, "ask %s for a session: connected, and no answer in time", addr).WithHint("is that a soku server?")
	case sock.Closed(err):
		return measure.Errorf(measure.KindRefused, "ask %s for a session: it closed the connection without an answer", addr).WithHint("is that a soku server, and does it allow this address?")
	}
	return notSoku(addr)
}

func notSoku(addr string) *measure.Error {
	return measure.Errorf(measure.KindRefused, "ask %s for a session: what answers there is not a soku server", addr).WithHint(`check the port; "soku server" listens on 7658 unless told otherwise`)
}

// explainResponse returns nil for a success of a soku server of this protocol
// version, and otherwise what its body or its header says. It reads the body of
// a failure.
func explainResponse(addr string, r *http.Response) error {
	switch spoken := r.Header.Get(ProtocolHeader); {
	case spoken == "":
		return notSoku(addr)
	case spoken != Name:
		return measure.Errorf(measure.KindRefused, "ask %s for a session: the server speaks %s and this program %s", addr, clip(spoken), Name).WithHint("use the same version of soku at both ends")
	}
	if r.StatusCode < 300 {
		return nil
	}
	var f Failure
	if DecodeBody(r.Body, MaxReply, &f) != nil || f.Error == nil {
		return measure.Errorf(measure.KindRefused, "ask %s for a session: HTTP status %d without a reason", addr, r.StatusCode)
	}
	return fromServer(f.Error)
}

// fromServer makes what the far end wrote fit for a terminal and a log: known
// kind, no control characters, bounded.
func fromServer(e *measure.Error) *measure.Error {
	out := &measure.Error{Kind: e.Kind, Message: clip(e.Message), Hint: clip(e.Hint)}
	switch e.Kind {
	case measure.KindUsage, measure.KindUnreachable, measure.KindRefused, measure.KindBroken,
		measure.KindPermission, measure.KindNotFound, measure.KindInternal:
	default:
		out.Kind = measure.KindRefused
	}
	return out
}

// clip keeps one printable line of at most 500 characters.
func clip(s string) string {
	const most = 500
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// innermost is the text of the cause without the operations around it, which
// repeat the address.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return clip(fmt.Sprint(err))
		}
		err = next
	}
}
