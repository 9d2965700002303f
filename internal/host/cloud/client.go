package cloud

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of what a service may answer.
const (
	mostBytes  = 64 << 10 // of a body
	mostHeader = 16 << 10
	mostText   = 128 // characters of a value
)

// client asks one service. It uses no proxy, for which the service may be another one, follows
// no redirect, and closes each connection after one request. Its methods are safe for concurrent
// use once the header is set.
type client struct {
	address string // with a port
	header  http.Header
}

func newClient(address string) *client {
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(address, "80")
	}
	return &client{address: address, header: http.Header{}}
}

// do returns the answer to a request if it is a success that is not too long.
func (c *client) do(ctx context.Context, method, path string, more http.Header) (body []byte, header http.Header) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.address+path, nil)
	if err != nil {
		return nil, nil
	}
	request.Close = true
	for _, h := range []http.Header{c.header, more} {
		for name, values := range h {
			request.Header[name] = values
		}
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", c.address)
	if err != nil {
		return nil, nil
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if request.Write(conn) != nil {
		return nil, nil
	}
	answer, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, mostHeader+mostBytes)), request)
	if err != nil {
		return nil, nil
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, nil
	}
	body, err = io.ReadAll(answer.Body)
	if err != nil || len(body) > mostBytes {
		return nil, nil
	}
	return body, answer.Header
}

// get is the body at a path, or nil.
func (c *client) get(ctx context.Context, path string) []byte {
	body, _ := c.do(ctx, http.MethodGet, path, nil)
	return body
}

// texts asks for several values concurrently.
func (c *client) texts(ctx context.Context, wanted map[string]*string) {
	var work sync.WaitGroup
	for path, to := range wanted {
		work.Go(func() { *to = word(string(c.get(ctx, path))) })
	}
	work.Wait()
}

// token gets the session token that the service demands, and has all further requests carry it.
func (c *client) token(ctx context.Context, path, lifetime, name string) bool {
	const seconds = "60"
	body, _ := c.do(ctx, http.MethodPut, path, http.Header{http.CanonicalHeaderKey(lifetime): {seconds}})
	const longest = 1024
	token := strings.TrimSpace(string(body))
	if token == "" || len(token) > longest || strings.Trim(token, printable) != "" {
		return false
	}
	c.header.Set(name, token)
	return true
}

// printable are the characters of ASCII that can be seen.
const printable = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// word returns a value of one line without the space around it, or "" if the text is no such
// value, such as the page of a portal that answers in the service's place.
func word(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > mostText || strings.Trim(text, printable+" ") != "" || strings.ContainsAny(text, "<>{}") {
		return ""
	}
	return text
}

// last is the part of a path behind its last slash.
func last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
