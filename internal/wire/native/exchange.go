package native

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// control knows how to reach one server's control API. A control connection is
// written and read directly, request by request: unlike a shared HTTP client it
// starts no goroutines, and detects a server that is not soku by its first unexpected
// byte.
type control struct {
	addr    string // host:port as given
	options measure.Options
	token   string
	tls     *tls.Config
}

// exchange is one open control connection.
type exchange struct {
	conn net.Conn
	in   *meter
	buf  *bufio.Reader

	since   time.Time // it is open
	refused bool      // the last request was answered by a soku server, with a failure
}

// connect opens a control connection, TLS handshake included.
func (c *control) connect(ctx context.Context) (*exchange, error) {
	// Only options that choose the path: a window or congestion control under test
	// must not affect the control connection.
	o := measure.Options{Bind: c.options.Bind, Device: c.options.Device, IPVersion: c.options.IPVersion, ConnectTimeout: c.options.ConnectTimeout}
	dialer, err := sock.DialerFor("tcp", o)
	if err != nil {
		return nil, measure.AsError(err, measure.KindUsage)
	}
	conn, err := dialer.DialContext(ctx, sock.Network("tcp", o.IPVersion), c.addr)
	if err != nil {
		return nil, explainDial(ctx, "tcp", c.addr, err)
	}
	if c.tls != nil {
		config := c.tls.Clone()
		if config.ServerName == "" {
			config.ServerName, _, _ = net.SplitHostPort(c.addr)
		}
		config.NextProtos = []string{"http/1.1"}
		secure := tls.Client(conn, config)
		_ = conn.SetDeadline(time.Now().Add(o.ConnectTimeout.Std()))
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, explainTLS(ctx, c.addr, err)
		}
		conn = secure
	}
	in := &meter{conn: conn}
	return &exchange{conn: conn, in: in, buf: bufio.NewReaderSize(in, 16<<10), since: time.Now()}, nil
}

// socket is the socket below TLS of the connection to the server, or nil if there is none.
func (x *exchange) socket() syscall.Conn {
	conn := x.conn
	if secure, is := conn.(*tls.Conn); is {
		conn = secure.NetConn()
	}
	socket, _ := conn.(syscall.Conn)
	return socket
}

// leave ends the connection in order, whatever was not read from it: a reset would be a cut.
func (x *exchange) leave() {
	if tcp, is := x.socket().(*net.TCPConn); is {
		_ = tcp.CloseWrite()
	}
	_ = x.conn.Close()
}

// do sends one request and returns the body of a successful answer of a soku server;
// everything else is an error. The caller closes the body, which reads it to its end,
// before the next request; an endless body ends with the connection. The answer must begin
// within [Silence].
func (c *control) do(ctx context.Context, x *exchange, method, path string, body any) (io.ReadCloser, error) {
	var payload bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&payload).Encode(body); err != nil {
			return nil, measure.Fail(measure.KindInternal, "native.request", measure.Figures{"address": c.addr, "cause": err})
		}
	}
	scheme := "http"
	if c.tls != nil {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, method, scheme+"://"+c.addr+path, &payload)
	if err != nil {
		return nil, malformed(c.addr, err)
	}
	request.Header.Set(ProtocolHeader, Name)
	request.Header.Set("User-Agent", "soku")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}

	defer x.interruptible(ctx)()
	_ = x.conn.SetWriteDeadline(time.Now().Add(Silence))
	x.in.expect(MaxHeader + MaxReply)
	if err := request.Write(x.conn); err != nil {
		return nil, explainExchange(ctx, c.addr, err)
	}
	response, err := http.ReadResponse(x.buf, request)
	if err != nil {
		return nil, explainExchange(ctx, c.addr, err)
	}
	if err := explainResponse(c.addr, response); err != nil {
		x.refused = response.Header.Get(ProtocolHeader) == Name
		_ = response.Body.Close()
		return nil, err
	}
	return response.Body, nil
}

// once opens a connection for a single request, as [control.do] makes it, and
// decodes the answer into out unless that is nil.
func (c *control) once(ctx context.Context, method, path string, body, out any) error {
	x, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer x.conn.Close()
	answer, err := c.do(ctx, x, method, path, body)
	if err != nil || out == nil {
		return err
	}
	return c.decode(ctx, x, answer, out)
}

func (c *control) decode(ctx context.Context, x *exchange, answer io.ReadCloser, out any) error {
	defer x.interruptible(ctx)()
	defer answer.Close()
	if err := DecodeBody(answer, MaxReply, out); err != nil {
		if cause := wire.Ended(ctx); cause != nil {
			return cause
		}
		var cause any = innermost(err)
		if errors.Is(err, errTooLong) {
			cause = measure.Fail(measure.KindRefused, "native.answer.too_long", nil)
		}
		return measure.Fail(measure.KindRefused, "native.answer", measure.Figures{"address": c.addr, "cause": cause}).WithHintCode("native.same_version", nil)
	}
	return nil
}

// interruptible ends blocked calls on the connection when ctx ends. The caller calls the
// returned function when it no longer waits.
func (x *exchange) interruptible(ctx context.Context) (stop func()) {
	// Closing is the only way that no deadline set later can undo.
	release := context.AfterFunc(ctx, func() { _ = x.conn.Close() })
	return func() { release() }
}

var errTooLong = errors.New("the answer is too long")

// meter is the reading side of a control connection. A complete answer must arrive within
// [Silence] and has a maximum length; in an endless one, [Silence] applies to each read.
type meter struct {
	conn  net.Conn
	left  int64     // bytes still accepted; negative: no limit, lines are bounded instead
	until time.Time // deadline of the answer, unless it is endless
}

func (m *meter) expect(bytes int64) { m.left, m.until = bytes, time.Now().Add(Silence) }
func (m *meter) endless()           { m.left = -1 }

func (m *meter) Read(b []byte) (int, error) {
	if m.left == 0 {
		return 0, errTooLong
	}
	if m.left > 0 && int64(len(b)) > m.left {
		b = b[:m.left]
	}
	until := m.until
	if m.left < 0 {
		until = time.Now().Add(Silence)
	}
	if err := m.conn.SetReadDeadline(until); err != nil {
		return 0, err
	}
	n, err := m.conn.Read(b)
	if m.left > 0 {
		m.left -= int64(n)
	}
	return n, err
}
