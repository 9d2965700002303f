package broker_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet/broker"
	"soku/internal/fleet/enrol"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
	"soku/test/freeport"
	"soku/test/tier"
)

// site is a hub's service and the brokers that trust it.
type site struct {
	*enrol.Service
	certificate tls.Certificate
	trust       *x509.CertPool
	urls        []string       // of NATS, one a broker
	embedded    *broker.Broker // nil: the brokers are programs of their own
}

// newSite is a site without a broker.
func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{}
	s.certificate, s.trust = newCertificate(t)
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tables, _ := sqlstore.Of(db)
	registry, err := enrol.OpenRegistry(t.Context(), tables)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := enrol.OpenAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.Service = enrol.New(enrol.Options{Authority: authority, Registry: registry})
	return s
}

// newCertificate is one for 127.0.0.1 that signs itself.
func newCertificate(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(own)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// options are those of an embedded broker.
func (s *site) options(t testing.TB, folder string) broker.Options {
	t.Helper()
	accounts, err := s.AccountJWTs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	operator, err := s.Authority.OperatorJWT()
	if err != nil {
		t.Fatal(err)
	}
	return broker.Options{Listen: "127.0.0.1:0", TLS: &tls.Config{Certificates: []tls.Certificate{s.certificate}},
		Operator: operator, SystemAccount: s.Authority.SystemAccount(), Accounts: accounts, Folder: folder}
}

// run starts an embedded broker.
func (s *site) run(t testing.TB, folder, address string) *broker.Broker {
	t.Helper()
	o := s.options(t, folder)
	o.Listen = address
	b, err := broker.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	s.embedded, s.urls = b, []string{"tls://" + b.Address()}
	return b
}

// embedded is a site with a broker in this process.
func embedded(t testing.TB) *site {
	t.Helper()
	s := newSite(t)
	s.run(t, t.TempDir(), "127.0.0.1:0")
	return s
}

// eachSite runs a test with a broker in this process, with three in processes of their own, and with Debian's.
func eachSite(t *testing.T, test func(t *testing.T, s *site)) {
	t.Run("embedded", func(t *testing.T) { test(t, embedded(t)) })
	t.Run("cluster", func(t *testing.T) {
		tier.SpendsSeconds(t)
		s := newSite(t)
		s.external(t, 3, func(config string) *exec.Cmd {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), serverConfig+"="+config, serverPeers+"=2")
			return cmd
		})
		test(t, s)
	})
	t.Run("debian", func(t *testing.T) {
		tier.SpendsSeconds(t)
		program, err := exec.LookPath("nats-server")
		if err != nil {
			t.Skip("nats-server is not installed: test/peers installs it")
		}
		s := newSite(t)
		s.external(t, 1, func(config string) *exec.Cmd {
			return exec.CommandContext(t.Context(), program, "-c", config)
		})
		test(t, s)
	})
}

// external starts brokers with the configuration that the service writes.
func (s *site) external(t *testing.T, n int, program func(config string) *exec.Cmd) {
	t.Helper()
	text, err := s.NATSConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	port, routes := freeport.Row(t, 2*n), []string{}
	for i := range n {
		routes = append(routes, fmt.Sprintf(`"nats-route://127.0.0.1:%d"`, port+n+i))
	}
	var outputs []chan bool
	for i := range n {
		folder := t.TempDir()
		s.writeCertificate(t, folder)
		config := text + fmt.Sprintf(`
server_name: broker-%d
listen: "127.0.0.1:%d"
tls { cert_file: "cert.pem", key_file: "key.pem", timeout: 5 }
authorization { timeout: 5 }
`, i, port+i)
		if n > 1 {
			config += fmt.Sprintf(`cluster { name: soku, listen: "127.0.0.1:%d", no_advertise: true, routes: [ %s ] }`, port+n+i, strings.Join(routes, ", "))
		}
		name := filepath.Join(folder, "nats.conf")
		if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, start(t, program(name), folder))
		s.urls = append(s.urls, fmt.Sprintf("tls://127.0.0.1:%d", port+i))
	}
	for _, ready := range outputs {
		if !<-ready {
			t.Fatal("a broker did not start")
		}
	}
}

// start runs a broker until the test ends. The channel has whether it takes connections. Its first lines are logged if the test fails.
func start(t *testing.T, cmd *exec.Cmd, folder string) (ready chan bool) {
	t.Helper()
	cmd.Dir = folder
	input, err := cmd.StdinPipe() // it ends with this process
	if err != nil {
		t.Fatal(err)
	}
	output, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = to, to
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = to.Close()
	ready = make(chan bool, 2)
	var said strings.Builder
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { ready <- false }()
		waiting := true
		for lines := bufio.NewScanner(output); lines.Scan(); { // a broker whose output is not read stands still
			text := lines.Text()
			if said.Len() < 4<<10 {
				said.WriteString(text + "\n")
			}
			if waiting && (text == isReady || cmd.Env == nil && strings.HasSuffix(text, "Server is ready")) {
				ready <- true
				waiting = false
			}
		}
	}()
	t.Cleanup(func() {
		_ = input.Close()
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
		_ = output.Close()
		if t.Failed() {
			t.Logf("%s\n%s", cmd, said.String())
		}
	})
	return ready
}

func (s *site) writeCertificate(t *testing.T, folder string) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(s.certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: s.certificate.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// url is that of the broker number i, for any i.
func (s *site) url(i int) string { return s.urls[i%len(s.urls)] }

func (s *site) tls() nats.Option {
	return nats.Secure(&tls.Config{RootCAs: s.trust, MinVersion: tls.VersionTLS12})
}

// member is a connection with its JWT.
type member struct {
	*nats.Conn
	ended chan error // why a connection was lost or refused
}

// dial connects to broker number i. It does not connect again.
func (s *site) dial(t testing.TB, i int, who nats.Option, options ...nats.Option) (*member, error) {
	t.Helper()
	m := &member{ended: make(chan error, 1)}
	all := []nats.Option{who, s.tls(), nats.NoReconnect(), nats.Timeout(5 * time.Second), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
		nats.ClosedHandler(func(c *nats.Conn) { m.ended <- c.LastError() })}
	var err error
	m.Conn, err = nats.Connect(s.url(i), append(all, options...)...)
	if err == nil {
		t.Cleanup(m.Close)
	}
	return m, err
}

// must is a connection that is there.
func must(t testing.TB) func(m *member, err error) *member {
	return func(m *member, err error) *member {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// hub connects as the hub, in the process if the broker is there, and system as its system connection.
func (s *site) hub(t testing.TB) *member    { return s.own(t, s.Authority.Hub) }
func (s *site) system(t testing.TB) *member { return s.own(t, s.Authority.System) }

func (s *site) own(t testing.TB, who func() (nats.Option, error)) *member {
	t.Helper()
	option, err := who()
	if err != nil {
		t.Fatal(err)
	}
	if s.embedded != nil {
		return must(t)(s.dial(t, 0, option, nats.InProcessServer(s.embedded)))
	}
	return must(t)(s.dial(t, 0, option))
}
