package endpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"soku/internal/agent"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen stands in for a server that requires a token.
func listen(s endpoint.Server) (at endpoint.Listening, run func(context.Context) error, err error) {
	if s.Token == "" {
		return at, nil, errors.New("no token")
	}
	at.Port = s.Ports[len(s.Ports)-1]
	return at, func(ctx context.Context) error { <-ctx.Done(); return nil }, nil
}

// far is the host's end with the given silence, and what it writes.
func far(t *testing.T, silence time.Duration) (to io.WriteCloser, from *json.Decoder, ended <-chan error) {
	t.Helper()
	in, to := io.Pipe()
	out, write := io.Pipe()
	done := make(chan error, 1)
	e := endpoint.Endpoint{Version: "test", Listen: listen, Silence: silence}
	go func() {
		defer close(done)
		err := e.Run(context.Background(), in, write)
		_ = in.Close()
		_ = write.Close()
		done <- err
	}()
	t.Cleanup(func() { _ = to.Close(); _ = out.Close(); <-done })
	return to, json.NewDecoder(out), done
}

const wish = `{"schema":"soku.endpoint/1","serve":{"ports":[7658],"token":"t"}}` + "\n"

func TestAnEndpointEndsWhenNothingIsHeard(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(io.Closer)
		after time.Duration // of the last request
	}{
		"the input ends":         {func(c io.Closer) { _ = c.Close() }, 0},
		"the connection is lost": {func(io.Closer) {}, endpoint.Silence},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to, from, ended := far(t, endpoint.Silence)
				_, _ = io.WriteString(to, wish)
				var ready endpoint.Ready
				if err := from.Decode(&ready); err != nil || ready.Port != 7658 || ready.Version != "test" {
					t.Fatalf("%+v, %v", ready, err)
				}
				var last time.Time
				for n := range int64(3) {
					time.Sleep(endpoint.Silence - time.Second)
					last = time.Now()
					_, _ = fmt.Fprintf(to, "{\"ask\":%d}\n", n)
					var answer struct {
						Answer int64 `json:"answer"`
						UnixNs int64 `json:"unix_ns"`
					}
					if err := from.Decode(&answer); err != nil || answer.Answer != n || answer.UnixNs != last.UnixNano() {
						t.Fatalf("%+v, %v", answer, err)
					}
				}
				c.leave(to)
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if after := time.Since(last); after != c.after {
					t.Errorf("it ended %v after the last request, not %v", after, c.after)
				}
			})
		})
	}
}

func TestAServerThatDoesNotStartIsReported(t *testing.T) {
	to, from, ended := far(t, time.Minute)
	_, _ = io.WriteString(to, strings.Replace(wish, `"t"`, `""`, 1))
	var ready endpoint.Ready
	if err := from.Decode(&ready); err != nil || ready.Error == nil || ready.Error.Message != "no token" {
		t.Errorf("%+v, %v", ready, err)
	}
	<-ended
}

// The server of a wish without ports would be none.
func TestAServerWithoutPortsIsRefused(t *testing.T) {
	const wish = `{"schema":"soku.endpoint/1","serve":{"ports":[],"token":"t"}}` + "\n"
	if err := endpoint.Serve(t.Context(), strings.NewReader(wish), io.Discard); measure.KindOf(err) != measure.KindUsage {
		t.Error(err)
	}
}

func FuzzWish(f *testing.F) {
	f.Add([]byte(wish))
	f.Add([]byte(`{"schema":"soku.endpoint/1"}` + "\n" + `{"ask":1}` + "\n" + `{"ask":"x"}`))
	f.Add([]byte("\n"))
	f.Fuzz(func(_ *testing.T, input []byte) {
		e := endpoint.Endpoint{Version: "test", Silence: time.Minute, Listen: func(endpoint.Server) (endpoint.Listening, func(context.Context) error, error) {
			return endpoint.Listening{Port: 1}, func(ctx context.Context) error { <-ctx.Done(); return nil }, nil
		}}
		_ = e.Run(context.Background(), strings.NewReader(string(input)), io.Discard)
	})
}

func TestTheServerTakesTheFirstPortThatIsFree(t *testing.T) {
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := taken.Addr().(*net.TCPAddr).Port
	at, run, err := endpoint.Listen(endpoint.Server{Ports: []int{busy, 0}, Token: "of the test"})
	if err != nil || at.Port == busy || at.Port == 0 {
		t.Fatalf("port %d, with %d taken: %v", at.Port, busy, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := run(ctx); err != nil {
		t.Error(err)
	}
	_, _, err = endpoint.Listen(endpoint.Server{Ports: []int{busy}, Token: "of the test"})
	if e := measure.AsError(err, ""); e == nil || e.Code != "server.listen.in_use" {
		t.Errorf("without a free port: %v", err)
	}
}

func TestAFolderForCopiesThatDoesNotExistIsAnError(t *testing.T) {
	_, _, err := endpoint.Listen(endpoint.Server{Ports: []int{0}, CopyRoot: filepath.Join(t.TempDir(), "nowhere")})
	if measure.KindOf(err) != measure.KindUsage {
		t.Error(err)
	}
}

// The owner's limits hold whatever a client asks for.
func TestTheServerKeepsTheLimitsOfItsOwner(t *testing.T) {
	limits := endpoint.Server{Ports: []int{0}, Token: "of the test", MaxRate: 1e6, MaxDuration: measure.Duration(time.Second)}
	away := limits
	away.Allow = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	long := option.Defaults(measure.TestTCP)
	long.Rate = 1e5
	fast := long
	fast.Duration, fast.Rate = measure.Duration(500*time.Millisecond), 2e6
	for name, c := range map[string]struct {
		server  endpoint.Server
		options measure.Options
		refused bool
	}{"duration": {limits, long, true}, "rate": {limits, fast, false}, "network": {away, fast, true}} {
		at, run, err := endpoint.Listen(c.server)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx) }()
		c.options.Port = at.Port
		r := agent.Local{Version: "test"}.Run(t.Context(), agent.Spec{Test: measure.TestTCP, Options: c.options, Host: "127.0.0.1", Access: agent.Access{Token: c.server.Token}}, agent.Hooks{})
		if c.refused != (r.Error != nil && r.Error.Kind == measure.KindRefused) || !c.refused && (r.Error != nil || r.Options.Rate != limits.MaxRate) {
			t.Errorf("%s: %v, rate %v", name, r.Error, r.Options.Rate)
		}
		stop()
		<-ended
	}
}

// A trial finds its server by the certificate that came with the port, and no other server is spoken to. A client of the
// version before knows no certificate.
func TestTheServerOfAGrantIsKnownByItsCertificate(t *testing.T) {
	o := option.Defaults(measure.TestTCP)
	o.Duration = measure.Duration(100 * time.Millisecond)
	granted, err := server.GrantFor(measure.TestTCP, o)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "of the test"
	open := func() (at endpoint.Listening) {
		at, run, err := endpoint.Listen(endpoint.Server{Ports: []int{0}, Token: secret, Grant: &granted})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx) }()
		t.Cleanup(func() { stop(); <-ended })
		return at
	}
	at, other := open(), open()
	plain, err := server.New(server.Config{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- plain.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	measured := func(port int, a agent.Access) *measure.Result {
		o.Port = port
		return agent.Local{Version: "test"}.Run(t.Context(), agent.Spec{Test: measure.TestTCP, Options: o, Host: "127.0.0.1", Access: a}, agent.Hooks{})
	}
	if at.Certificate == "" || at.Certificate == other.Certificate {
		t.Fatalf("certificates %q and %q", at.Certificate, other.Certificate)
	}
	for name, c := range map[string]struct {
		port   int
		access agent.Access
		code   string
	}{
		"another certificate": {at.Port, agent.Access{Token: secret, Certificate: other.Certificate}, "tls.other_server"},
		"no certificate":      {int(plain.Addr().Port()), agent.Access{Token: secret, Certificate: at.Certificate}, "tls.ended"},
	} {
		if r := measured(c.port, c.access); r.Error == nil || r.Error.Kind != measure.KindRefused || r.Error.Code != c.code {
			t.Errorf("%s: %v", name, r.Error)
		}
	}
	if r := measured(at.Port, agent.Access{Token: secret, Certificate: at.Certificate}); r.Error != nil {
		t.Error(r.Error)
	}
	if r := measured(at.Port, agent.Access{Token: secret, Certificate: at.Certificate}); r.Error == nil || r.Error.Code != "server.grant.used" {
		t.Errorf("a second time: %v", r.Error)
	}
	if r := measured(other.Port, agent.Access{Token: secret}); r.Error != nil {
		t.Errorf("without TLS: %v", r.Error)
	}
}
