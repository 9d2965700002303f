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

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/printable"
	"soku/internal/sock"
	"soku/internal/wire"
)

// Every failure of a client becomes one error here.

// explainDial says why a connection of the given network ("tcp", "udp") to
// addr could not be opened.
func explainDial(ctx context.Context, network, addr string, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	host, port, splitErr := net.SplitHostPort(addr)
	if splitErr != nil {
		return malformed(addr, err)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		switch {
		case dns.IsNotFound:
			return measure.Fail(measure.KindUnreachable, "dns.not_found", measure.Figures{"host": host})
		case dns.IsTimeout:
			return measure.Fail(measure.KindUnreachable, "dns.no_answer", measure.Figures{"host": host})
		}
		return measure.Fail(measure.KindUnreachable, "dns.failed", measure.Figures{"host": host, "cause": dns.Err})
	}
	target := measure.Figures{"network": strings.ToUpper(network), "port": port}
	switch {
	case errors.Is(err, errnoRefused):
		return measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": addr}).WithHintCode("native.refused", target)
	case sock.TimedOut(err):
		return measure.Fail(measure.KindUnreachable, "dial.no_answer", measure.Figures{"address": addr}).WithHintCode("dial.firewall", target)
	case errors.Is(err, errnoNoHost), errors.Is(err, errnoNoNetwork):
		return measure.Fail(measure.KindUnreachable, "dial.no_route", measure.Figures{"address": addr})
	case errors.Is(err, errnoNoAddress):
		return measure.Fail(measure.KindUsage, "dial.local_address", measure.Figures{"address": addr})
	case errors.Is(err, errnoWrongFamily):
		return measure.Fail(measure.KindUsage, "dial.family", measure.Figures{"address": addr})
	case errors.Is(err, errnoNoFile), errors.Is(err, errnoNoFileLeft):
		return measure.Fail(measure.KindPermission, "dial.files", measure.Figures{"address": addr}).WithHintCode("dial.files_streams", nil)
	case errors.Is(err, errnoNotAllowed), errors.Is(err, errnoForbidden):
		return measure.Fail(measure.KindPermission, "dial.forbidden", measure.Figures{"address": addr})
	}
	if family, ok := errors.AsType[*net.AddrError](err); ok {
		return measure.Fail(measure.KindUsage, "dial.address", measure.Figures{"address": addr, "cause": family.Err})
	}
	return measure.Fail(measure.KindUnreachable, "dial.failed", measure.Figures{"address": addr, "cause": innermost(err)})
}

func malformed(addr string, err error) *measure.Error {
	return measure.Fail(measure.KindUsage, "dial.malformed", measure.Figures{"address": addr, "cause": err, "example_port": option.DefaultPort})
}

// explainTLS says why the TLS handshake failed.
func explainTLS(ctx context.Context, addr string, err error) error {
	if cause := wire.Ended(ctx); cause != nil {
		return cause
	}
	var (
		header    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		remote    *net.OpError
		other     *measure.Error // of a configuration that trusts one certificate
	)
	switch {
	case errors.As(err, &other):
		return measure.Fail(other.Kind, "tls.other_server", measure.Figures{"address": addr, "got": other.Figures["got"], "want": other.Figures["want"]})
	case sock.TimedOut(err):
		return measure.Fail(measure.KindUnreachable, "tls.no_answer", measure.Figures{"address": addr})
	case errors.As(err, &header), sock.Closed(err):
		return measure.Fail(measure.KindRefused, "tls.not_spoken", measure.Figures{"address": addr})
	case errors.As(err, &authority):
		return measure.Fail(measure.KindRefused, "tls.authority", measure.Figures{"address": addr})
	case errors.As(err, &hostname):
		return measure.Fail(measure.KindRefused, "tls.name", measure.Figures{"address": addr, "cause": innermost(err)})
	case errors.As(err, &invalid):
		return measure.Fail(measure.KindRefused, "tls.certificate", measure.Figures{"address": addr, "cause": innermost(err)})
	case errors.As(err, &remote) && remote.Op == "remote error": // an alert of the server
		return measure.Fail(measure.KindRefused, "tls.ended", measure.Figures{"address": addr, "cause": innermost(err)})
	}
	return measure.Fail(measure.KindRefused, "tls.failed", measure.Figures{"address": addr, "cause": innermost(err)})
}

// explainExchange explains why a request on an open control connection got no valid
// answer.
func explainExchange(ctx context.Context, addr string, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	switch {
	case sock.TimedOut(err):
		return measure.Fail(measure.KindUnreachable, "native.no_answer", measure.Figures{"address": addr})
	case sock.Closed(err):
		return measure.Fail(measure.KindRefused, "native.closed", measure.Figures{"address": addr})
	}
	return notSoku(addr)
}

func notSoku(addr string) *measure.Error {
	return measure.Fail(measure.KindRefused, "native.other_program", measure.Figures{"address": addr, "default_port": option.DefaultPort})
}

// explainResponse returns nil for a success of a soku server of this protocol version, and
// otherwise the error in its body or header. It reads the body of a failure.
func explainResponse(addr string, r *http.Response) error {
	switch spoken := r.Header.Get(ProtocolHeader); {
	case spoken == "":
		return notSoku(addr)
	case spoken != Name:
		return measure.Fail(measure.KindRefused, "native.version", measure.Figures{"address": addr, "server": clip(spoken), "client": Name}).WithHintCode("native.same_version", nil)
	}
	if r.StatusCode < 300 {
		return nil
	}
	var f Failure
	if DecodeBody(r.Body, MaxReply, &f) != nil || f.Error == nil {
		return measure.Fail(measure.KindRefused, "native.status", measure.Figures{"address": addr, "status": r.StatusCode})
	}
	return fromServer(f.Error)
}

// mostCauses bounds how many causes, each that of the one before, of a server's failure
// are kept.
const mostCauses = 4

// fromServer makes a failure that the server reported safe for a terminal and a log: known
// kind, no control characters, limited length.
func fromServer(e *measure.Error) *measure.Error { return presentableFailure(e, mostCauses) }

func presentableFailure(e *measure.Error, causes int) *measure.Error {
	if e == nil || causes < 0 {
		return nil
	}
	out := &measure.Error{
		Kind: e.Kind, Message: clip(e.Message), Hint: clip(e.Hint),
		Code: clipName(e.Code), HintCode: clipName(e.HintCode), Figures: presentableFigures(e.Figures),
		Cause: presentableFailure(e.Cause, causes-1),
	}
	switch e.Kind {
	case measure.KindUsage, measure.KindUnreachable, measure.KindRefused, measure.KindBroken,
		measure.KindPermission, measure.KindNotFound, measure.KindInternal:
	default:
		out.Kind = measure.KindRefused
	}
	return out
}

// mostText is how many characters of a text of the other end are kept.
const mostText = 500

// clip keeps one printable line of it.
func clip(s string) string { return printable.Cut(printable.Line(s), mostText) }

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
