package deploy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/fleet"
	"soku/test/built"
	"soku/test/freeport"
	"soku/test/tier"
)

// Agents that reach nothing of the hub but nginx join, stay connected by WebSocket and run a campaign.
func TestAgentsWorkThroughNginx(t *testing.T) {
	tier.SpendsSeconds(t)
	nginx := need(t, "nginx")
	for name, public := range map[string]bool{"certificate of a public authority": true, "certificate with a pin": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			chain, pin := certificateFor(t, dir)
			port := freeport.Row(t, 4)
			flags := []string{"--url", fmt.Sprintf("https://localhost:%d", port), "--proxies", "127.0.0.1", "--verbose"}
			env := []string{}
			if public {
				env = append(env, "SSL_CERT_FILE="+chain) // the authorities of this system
			} else {
				flags = append(flags, "--url-pin", string(pin))
			}
			h := runHub(t, port+1, port+2, flags...)
			runNginx(t, nginx, dir, h.certificate(), port, port+1)
			join := h.join(2)
			for _, agent := range []string{"a", "b"} {
				said := start(t, "agent "+agent, append(env, "SOKU_DATA="+t.TempDir()), built.Program(t), append(join, "--name", agent)...)
				await(t, said, "WebSocket")
				await(t, said, "connected to")
			}
			plan := filepath.Join(dir, "plan.yaml")
			write(t, plan, fmt.Sprintf("campaign: proxied\nfrom: a\nto: b\nendpoints:\n  a: {agent: a}\n  b: {agent: b, address: 127.0.0.1, port: %d}\n"+
				"tests:\n  up: {test: tcp, duration: 1s, rate: 1M}\nrounds: 1\n", port+3))
			if out := h.command("run", plan); !strings.Contains(out, "1 of 1 trial") || strings.Contains(out, "failed") {
				t.Error(out)
			}
		})
	}
}

// runNginx runs the example with other files and ports.
func runNginx(t *testing.T, nginx, dir, hubCertificate string, port, hubPort int) {
	t.Helper()
	site := read(t, "nginx/soku-hub.conf")
	for old, other := range map[string]string{
		"listen 443 ssl;":              fmt.Sprintf("listen 127.0.0.1:%d ssl;", port),
		"server 127.0.0.1:7660;":       fmt.Sprintf("server 127.0.0.1:%d;", hubPort),
		"/etc/nginx/soku-hub.pem":      hubCertificate,
		"/etc/nginx/hub.example.net":   filepath.Join(dir, "proxy"),
		"server_name hub.example.net;": "server_name localhost;",
	} {
		if !strings.Contains(site, old) {
			t.Fatalf("the example has no %q", old)
		}
		site = strings.ReplaceAll(site, old, other)
	}
	// A distribution's nginx.conf has this around it.
	var paths strings.Builder
	for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&paths, "%s_temp_path %s;\n", what, filepath.Join(dir, what))
	}
	config := filepath.Join(dir, "nginx.conf")
	write(t, config, fmt.Sprintf("daemon off;\nuser %s;\npid %s;\nerror_log stderr info;\nevents {}\nhttp {\naccess_log off;\n%s%s}\n", owner(), filepath.Join(dir, "pid"), paths.String(), site))
	said := start(t, "nginx", nil, nginx, "-e", "stderr", "-p", dir, "-c", config)
	await(t, said, "start worker process ")
}

// owner is a user who may read the files of the test: nginx leaves root to another user otherwise.
func owner() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	return "nobody" // ignored
}

// certificateFor makes proxy.pem and proxy.key for localhost in dir, signed by an authority whose certificate is
// in the file chain. pin is that of the former.
func certificateFor(t *testing.T, dir string) (chain string, pin fleet.Pin) {
	t.Helper()
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	proxy := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	root, own := newKey(t), newKey(t)
	sign := func(c *x509.Certificate, key *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, c, authority, key.Public(), root)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	leaf := sign(proxy, own)
	private, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	chain = filepath.Join(dir, "authority.pem")
	write(t, chain, block("CERTIFICATE", sign(authority, root)))
	write(t, filepath.Join(dir, "proxy.pem"), block("CERTIFICATE", leaf))
	write(t, filepath.Join(dir, "proxy.key"), block("PRIVATE KEY", private))
	return chain, fleet.PinOf(leaf)
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
