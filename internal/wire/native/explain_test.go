package native

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/text/messages"
	"soku/internal/wire"
	peer "soku/test/exchange"
)

// respond reads one request and writes text.
func respond(text string) func(net.Conn) {
	return func(c net.Conn) {
		if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		_, _ = io.WriteString(c, text)
	}
}

func request() wire.Request {
	o := option.Defaults(measure.TestTCP)
	o.ConnectTimeout = measure.Duration(400 * time.Millisecond)
	return wire.Request{Test: measure.TestTCP, Options: o}
}

// openFails opens a session that must fail with one clear message.
func openFails(t *testing.T, addr string, r wire.Request, kind measure.Kind, parts ...string) {
	t.Helper()
	s, err := Open(t.Context(), addr, r, wire.Hooks{})
	if err == nil {
		_ = s.Close()
		t.Fatal("no error")
	}
	var e *measure.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v", err, err)
	}
	if e.Kind != kind {
		t.Errorf("kind %s, want %s: %v", e.Kind, kind, e)
	}
	for _, part := range parts {
		if !strings.Contains(e.Error(), part) {
			t.Errorf("%q does not say %q", e.Error(), part)
		}
	}
	if strings.ContainsAny(e.Error(), "\n\r\x1b") {
		t.Errorf("not one printable line: %q", e.Error())
	}
}

func TestAClosedPortIsRefusedWithAHint(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(addr)
	openFails(t, addr, request(), measure.KindUnreachable, "connect "+addr+": refused", `is "soku server" running there`, "TCP "+port+" open")
}

func TestAnUnknownNameIsReported(t *testing.T) {
	openFails(t, "no-such-host.invalid:7658", request(), measure.KindUnreachable, "find the address of no-such-host.invalid")
}

func TestAnAddressWithoutPortIsRefusedWithAHint(t *testing.T) {
	openFails(t, "127.0.0.1", request(), measure.KindUsage, "host:port")
}

func TestAHostThatDoesNotAnswerTimesOut(t *testing.T) {
	err := explainDial(context.Background(), "tcp", "192.0.2.1:7658", &net.OpError{Op: "dial", Err: timeoutError{}})
	if measure.KindOf(err) != measure.KindUnreachable || !strings.Contains(err.Error(), "connect 192.0.2.1:7658: no answer in time") {
		t.Errorf("%v", err)
	}
}

func TestRunningOutOfFilesSaysWhichLimitToRaise(t *testing.T) {
	for _, no := range []error{errnoNoFile, errnoNoFileLeft} {
		err := explainDial(context.Background(), "tcp", "192.0.2.1:7658", &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", no)})
		if measure.KindOf(err) != measure.KindPermission || !strings.Contains(err.Error(), "ulimit -n") || !strings.Contains(err.Error(), "--streams") {
			t.Errorf("%v", err)
		}
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func TestALocalAddressOfAnotherHostIsReported(t *testing.T) {
	r := request()
	r.Options.Bind = "192.0.2.77"
	openFails(t, peer.Service(t, func(net.Conn) {}), r, measure.KindUsage, "local address")
}

func TestAPortWithoutASokuServerIsReported(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"ssh banner":     func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n"); _, _ = io.Copy(io.Discard, c) },
		"binary":         respond("\x00\x01\x02\x03\x04\x05\x06\x07\r\n\r\n"),
		"web server":     respond("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"),
		"web server, ok": respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
		"headers without end": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := io.WriteString(c, "X-Filler: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			openFails(t, peer.Service(t, serve), request(), measure.KindRefused, "not a soku server")
		})
	}
}

func TestAServerThatClosesAtOnceIsNotMistakenForABrokenPath(t *testing.T) {
	openFails(t, peer.Service(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }), request(), measure.KindRefused, "closed the connection without an answer")
}

func TestAnotherProtocolVersionIsReportedWithBothVersions(t *testing.T) {
	openFails(t, peer.Service(t, respond("HTTP/1.1 404 Not Found\r\nSoku-Protocol: soku/7\r\nContent-Length: 0\r\n\r\n")), request(),
		measure.KindRefused, "speaks soku/7 and this program soku/1")
}

func TestTheServersReasonIsPassedOnWithoutControlCharacters(t *testing.T) {
	body := `{"error":{"kind":"refused","message":"busy:\u001b[31m 4 of 4","hint":"try\nlater"}}`
	openFails(t, peer.Service(t, respond("HTTP/1.1 503 Busy\r\nSoku-Protocol: soku/1\r\nConnection: close\r\n\r\n"+body)), request(),
		measure.KindRefused, "busy:", "4 of 4", "try later")
}

func TestAServerCannotInventKindsOfFailure(t *testing.T) {
	if e := fromServer(&measure.Error{Kind: "interrupted", Message: strings.Repeat("x", 10000)}); e.Kind != measure.KindRefused || len(e.Message) > 600 {
		t.Errorf("kept kind %s and %d bytes", e.Kind, len(e.Message))
	}
}

// Code and figures go on, so that the client can make the sentence in its own language.
func TestAServersFailureIsBoundedAndHasNoControlCharacters(t *testing.T) {
	long, many := strings.Repeat("x", 10000), measure.Figures{"list": slices.Repeat([]string{"a\x1b"}, 5000)}
	for i := range 500 {
		many[fmt.Sprintf("z%d", i)] = long
	}
	e := &measure.Error{Kind: measure.KindBroken, Code: "a\x1bcode", Message: "m", HintCode: long, Figures: many}
	for range 100 {
		e = &measure.Error{Kind: e.Kind, Code: e.Code, Message: e.Message, HintCode: e.HintCode, Figures: e.Figures, Cause: e}
	}
	b, err := json.Marshal(fromServer(e))
	if err != nil || len(b) > 200<<10 || bytes.Contains(b, []byte(`\u001b`)) {
		t.Errorf("%d bytes: %v, %.100s", len(b), err, b)
	}
	kept := fromServer(&measure.Error{Kind: measure.KindRefused, Code: "session.closed", Figures: measure.Figures{"address": "a"}, Message: "x"})
	if message, _ := kept.Sentences(messages.English()); message != "measure against a: the session is closed" {
		t.Errorf("%q", message)
	}
}

func TestTLSMismatches(t *testing.T) {
	trusted, config := certificate(t)
	secure := peer.Service(t, func(c net.Conn) {
		s := tls.Server(c, config)
		if s.HandshakeContext(context.Background()) == nil {
			_, _ = s.Read(make([]byte, 1))
		}
	})
	with := func(c *tls.Config) wire.Request { r := request(); r.TLS = c; return r }
	t.Run("the server has no TLS", func(t *testing.T) {
		openFails(t, peer.Service(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 512))
			_, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 40})
		}), with(&tls.Config{RootCAs: trusted}), measure.KindRefused, "TLS to", "does it speak TLS")
		openFails(t, peer.Service(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }),
			with(&tls.Config{RootCAs: trusted}), measure.KindRefused, "does not speak TLS")
	})
	t.Run("an unknown authority", func(t *testing.T) {
		openFails(t, secure, with(&tls.Config{RootCAs: x509.NewCertPool()}), measure.KindRefused, "does not trust")
	})
	t.Run("another name", func(t *testing.T) {
		openFails(t, secure, with(&tls.Config{RootCAs: trusted, ServerName: "elsewhere.example"}), measure.KindRefused, "another name")
	})
	t.Run("the client has none", func(t *testing.T) {
		openFails(t, secure, request(), measure.KindRefused, "soku server")
	})
}

func TestAClientSpeaksHTTP1ToAServerThatOffersHTTP2(t *testing.T) {
	asked := make(chan string, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Proto
		http.NotFound(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	r := request()
	r.TLS = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	_, err := Ask(t.Context(), server.Listener.Addr().String(), r)
	select {
	case got := <-asked:
		if got != "HTTP/1.1" {
			t.Errorf("the request is %s", got)
		}
	default:
		t.Errorf("no request was read: %v", err)
	}
}

func certificate(t *testing.T) (*x509.CertPool, *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	addr := peer.Service(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }) // listens and sends nothing
	ctx, cancel := context.WithCancelCause(t.Context())
	why := measure.TextError(measure.KindInterrupted, "interrupted", "")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	begin := time.Now()
	_, err := Open(ctx, addr, request(), wire.Hooks{})
	if !errors.Is(err, error(why)) {
		t.Errorf("got %v", err)
	}
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestOfTheServersOptionsOnlyRatesAreUsed(t *testing.T) {
	asked := measure.Options{Rate: 1000, Bind: "10.0.0.1", Streams: 2, RequestRate: 50}
	got := allowed(measure.TestTCP, asked, measure.Options{Rate: 400, Bind: "6.6.6.6", Device: "evil0", Streams: 900, RequestRate: 20})
	if want := (measure.Options{Rate: 400, Bind: "10.0.0.1", Streams: 2, RequestRate: 20}); got != want {
		t.Errorf("got %+v", got)
	}
	if got := allowed(measure.TestTCP, asked, measure.Options{Rate: 5000, RequestRate: 60}); got != asked {
		t.Errorf("a server raised a rate: %+v", got)
	}
	if got := allowed(measure.TestTCP, measure.Options{}, measure.Options{Rate: 5}); got.Rate != 5 {
		t.Errorf("no limit was not lowered: %+v", got)
	}
}
