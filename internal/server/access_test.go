package server

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/wire"
	"soku/internal/wire/native"
	"soku/test/tier"
)

// get asks once on a connection of its own.
func (r *running) get(path string, out any) {
	r.t.Helper()
	response := r.do(http.MethodGet, path, nil, nil)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		r.t.Fatalf("GET %s: %d", path, response.StatusCode)
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) do(method, path string, header http.Header, body io.Reader) *http.Response {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.addr+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header = header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	if header == nil {
		request.Header.Set("Authorization", "Bearer "+secret)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func TestWithATokenNothingIsRevealedWithoutIt(t *testing.T) {
	s := serve(t, Config{Access: WithToken(secret)})
	for _, rt := range routes {
		path := strings.Replace(rt.path, "{id}", "00", 1)
		for _, header := range []http.Header{{}, {"Authorization": {"Bearer wrong"}}, {"Authorization": {"Basic sesame"}}, {"Authorization": {"sesame"}}} {
			response := s.do(rt.method, path, header, nil)
			body, _ := io.ReadAll(response.Body)
			if response.StatusCode != http.StatusUnauthorized || strings.Contains(string(body), "max_clients") {
				t.Errorf("%s %s with %v: %d", rt.method, path, header, response.StatusCode)
			}
		}
	}
	r := s.request(measure.TestTCP, tcpOptions())
	for token, want := range map[string]string{"": "wants a token", "wrong": "not the server's"} {
		r.Token = token
		_, err := native.Open(t.Context(), s.addr, r, wire.Hooks{})
		if measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), want) {
			t.Errorf("token %q: %v", token, err)
		}
	}
	s.open(measure.TestTCP, tcpOptions())
}

func TestAWrongTokenIsLoggedOnceASecond(t *testing.T) {
	s := serve(t, Config{Access: WithToken(secret)})
	for range 20 {
		s.do(http.MethodGet, native.InfoPath, http.Header{"Authorization": {"Bearer wrong"}}, nil)
	}
	if log, n := s.logs.String(), strings.Count(s.logs.String(), "token refused"); n < 1 || n > 5 || !strings.Contains(log, "client=127.0.0.1") || strings.Contains(log, "Bearer") {
		t.Error(log)
	}
}

func TestAClientThatIsNotAllowedGetsOnlyTheRefusal(t *testing.T) {
	s := serve(t, Config{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}})
	s.refused(measure.TestTCP, tcpOptions(), measure.KindRefused, "does not serve clients from 127.0.0.1", "--allow")
	if status := s.do(http.MethodGet, native.InfoPath, nil, nil).StatusCode; status != http.StatusForbidden {
		t.Errorf("status %d", status)
	}
	for addr, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "11.0.0.1": false, "fd00::1%eth0": true, "fe80::1": false} {
		if got := s.allowed(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
}

func TestTLSProtectsControlAndIsThenRequired(t *testing.T) {
	pool, config := certificate(t)
	s := serve(t, Config{TLS: config, Access: WithToken(secret)})
	r := s.request(measure.TestTCP, tcpOptions())
	if _, err := native.Open(t.Context(), s.addr, r, wire.Hooks{}); measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), "wants TLS") {
		t.Errorf("without TLS: %v", err)
	}
	r.TLS = &tls.Config{RootCAs: pool}
	session, err := native.Open(t.Context(), s.addr, r, wire.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{Session: session, t: t}
	defer c.Close()
	conns := c.tcp()
	c.start()
	_, _ = conns[0].Write(make([]byte, 9))
	_ = conns[0].CloseWrite()
	if end := c.finish(); end.Flows[0].Streams[0].ReceivedBytes != 9 {
		t.Errorf("half %+v", end)
	}
}

func TestTheServerSpeaksHTTP1ToAClientThatOffersHTTP2(t *testing.T) {
	pool, config := certificate(t)
	config.NextProtos = []string{"h2", "http/1.1"}
	s := serve(t, Config{TLS: config})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.addr+native.InfoPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool}}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.Proto != "HTTP/1.1" || response.TLS.NegotiatedProtocol != "http/1.1" {
		t.Errorf("%s after %q was negotiated", response.Proto, response.TLS.NegotiatedProtocol)
	}
}

func TestAClientWithTLSIsRefusedWithoutTLS(t *testing.T) {
	s := serve(t, Config{})
	r := s.request(measure.TestTCP, tcpOptions())
	r.TLS = &tls.Config{InsecureSkipVerify: true}
	if _, err := native.Open(t.Context(), s.addr, r, wire.Hooks{}); measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), "speak TLS") {
		t.Errorf("got %v", err)
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

// speak opens a connection, writes, and returns what came until the server closed it.
func (r *running) speak(bytes string) string {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, bytes)
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	answer, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		r.t.Errorf("the server did not close after %q", bytes)
	}
	return string(answer)
}

func TestWhatSpeaksNoKnownProtocolIsClosedWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, func(s *Server) { s.times.sniff = 100 * time.Millisecond })
	for _, bytes := range []string{"", "SO", "nonsense", "\x00\x00\x00\x00", "SSH-2.0-x\r\n", "SOKX....", "SOKU"} {
		if answer := s.speak(bytes); answer != "" {
			t.Errorf("%q was answered with %q", bytes, answer)
		}
	}
	eventually(t, prompt, "connections are held", func() bool {
		s.unclassified.mu.Lock()
		defer s.unclassified.mu.Unlock()
		return len(s.unclassified.conns) == 0
	})
}

func TestSilentConnectionsMakeRoomForThoseThatSpeak(t *testing.T) {
	s := serve(t, Config{}, func(s *Server) { s.unclassified.limit = NewFairLimit(3) })
	var first net.Conn
	for i := range 10 {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i == 0 {
			first = c
		}
	}
	_ = first.SetReadDeadline(time.Now().Add(prompt)) // less than a silent connection has otherwise
	if _, err := first.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the oldest connection is still open: %v", err)
	}
	var info native.Info
	s.get(native.InfoPath, &info)
	if info.Name != "soku" {
		t.Errorf("got %+v", info)
	}
}

func TestAnIncompleteRequestTimesOut(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, func(s *Server) {
		s.http.ReadHeaderTimeout = 100 * time.Millisecond
		s.http.ReadTimeout = 200 * time.Millisecond
	})
	for _, text := range []string{"GET /v1/info HTTP/1.1\r\nHost: x\r\n", "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"} {
		begin := time.Now()
		s.speak(text)
		if d := time.Since(begin); d > prompt {
			t.Errorf("held for %s after %q", d, text)
		}
	}
}

func TestAnEventsStreamOutlivesTheTimesOfARequest(t *testing.T) {
	s := serve(t, Config{}, func(s *Server) {
		s.http.ReadTimeout, s.http.IdleTimeout = 50*time.Millisecond, 50*time.Millisecond
		s.times.heartbeat = 100 * time.Millisecond
	})
	x := s.raw(tcpOptions())
	x.attach()
	for alive := 0; alive < 3; {
		switch e := x.event(); e.Event {
		case native.EventAlive:
			alive++
		case native.EventAborted:
			t.Fatalf("%v", e.Error)
		}
	}
	if s.sessions.len() != 1 {
		t.Error("the session is gone")
	}
}

func TestControlConnectionsAreBounded(t *testing.T) {
	s := serve(t, Config{}, func(s *Server) { s.control.limit = NewFairLimit(3) })
	x := s.raw(tcpOptions())
	x.attach()
	const request = "GET /v1/info HTTP/1.1\r\nHost: x\r\n\r\n"
	var conns []net.Conn
	for range 10 {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, request)
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
			t.Fatalf("a connection gets no answer: %v", err)
		}
		conns = append(conns, c)
	}
	_ = conns[0].SetReadDeadline(time.Now().Add(prompt))
	if _, err := conns[0].Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the oldest idle connection is still open: %v", err)
	}
	s.control.mu.Lock()
	open := len(s.control.open)
	s.control.mu.Unlock()
	if open > 3 {
		t.Errorf("%d control connections are open", open)
	}
	if s.sessions.len() != 1 {
		t.Error("the session ended, whose connection is not idle")
	}
}

func TestRequestsThatAreWrongGetAReason(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	s := serve(t, Config{})
	js := http.Header{"Content-Type": {"application/json"}}
	for _, c := range []struct {
		name, method, path string
		header             http.Header
		body               string
		status             int
		says               string
	}{
		{"no such path", "GET", "/v2/info", nil, "", 404, "no GET /v2/info"},
		{"other method", "PUT", native.InfoPath, nil, "", 404, "no PUT /v1/info"},
		{"no such session", "POST", "/v1/sessions/00/start", nil, "", 404, "no such session"},
		{"no JSON", "POST", native.SessionsPath, js, "nonsense", 400, "does not parse"},
		{"too long", "POST", native.SessionsPath, js, `{"test":"` + strings.Repeat("x", native.MaxBody) + `"}`, 413, "longer than 65536"},
		{"no type", "POST", native.SessionsPath, nil, "{}", 415, "application/json"},
		{"other version", "GET", native.InfoPath, http.Header{native.ProtocolHeader: {"soku/9"}}, "", 400, "soku/1"},
	} {
		response := s.do(c.method, c.path, c.header, strings.NewReader(c.body))
		var f native.Failure
		if err := native.DecodeBody(response.Body, native.MaxReply, &f); err != nil || f.Error == nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if response.StatusCode != c.status || !strings.Contains(f.Error.Message, c.says) || response.Header.Get(native.ProtocolHeader) != native.Name {
			t.Errorf("%s: %d %q", c.name, response.StatusCode, f.Error.Message)
		}
	}
}

func TestStepsOutOfOrderAreRefused(t *testing.T) {
	s := serve(t, Config{})
	x := s.raw(tcpOptions())
	x.attach()
	status := func(method, path string) int {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return x.ask(c, bufio.NewReader(c), method, path, "").StatusCode
	}
	if got := status("POST", native.StartPath); got != http.StatusConflict {
		t.Errorf("start without data connections: %d", got)
	}
	if got := status("POST", native.FinishPath); got != http.StatusConflict {
		t.Errorf("finish before start: %d", got)
	}
	if got := status("GET", native.EventsPath); got != http.StatusConflict {
		t.Errorf("second events stream: %d", got)
	}
	x.open(0)
	x.start()
	if got := status("POST", native.StartPath); got != http.StatusConflict {
		t.Errorf("second start: %d", got)
	}
}
