package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"soku/internal/server"
)

// A token without TLS is no secret: both ends say so once, and what to do.
func TestATokenWithoutTLSIsWarnedAbout(t *testing.T) {
	addr := startServer(t, func(c *server.Config) { c.Access = server.WithToken("secret") })
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const warning = "anyone who reads"
	for _, c := range []struct {
		args   []string
		warned int
		advice string
	}{
		{[]string{"latency", addr, "-c", "20", "--no-save", "--token-file", token}, 1, "use --tls"},
		{[]string{"latency", addr, "-c", "20", "--no-save", "--json", "--token-file", token}, 1, "use --tls"},
		{[]string{"latency", addr, "-c", "20", "--no-save", "--token-file", token, "--tls"}, 0, ""},
		{[]string{"latency", addr, "-c", "20", "--no-save"}, 0, ""},
	} {
		_, errs, _ := soku(t, c.args...)
		if strings.Count(errs, warning) != c.warned || !strings.Contains(errs, c.advice) {
			t.Errorf("%q: %s", c.args, errs)
		}
	}
}

func TestAServerWithATokenWarnsWithoutTLS(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sys, _, errs := fakeSystem(t)
	f := serverFlags{listen: "127.0.0.1:0", tokenFile: token, quiet: true, foreign: foreignFlags{iperf3: foreignOff, ethr: foreignOff}}
	if _, err := f.config(sys, sys.Stderr); err != nil {
		t.Fatal(err)
	}
	if strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "give --tls-cert and --tls-key, and clients --tls") {
		t.Errorf("%s", errs)
	}
	errs.Reset()
	f.tokenFile = ""
	if _, err := f.config(sys, sys.Stderr); err != nil || errs.String() != "" {
		t.Errorf("%v: %s", err, errs)
	}
}

func TestASecretThatEveryUserCanReadIsWarnedAbout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its files have no mode")
	}
	addr := startServer(t, func(c *server.Config) { c.Access = server.WithToken("secret") })
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o604: true} {
		if err := os.Chmod(token, mode); err != nil {
			t.Fatal(err)
		}
		const warning = "every user of this host can read"
		if _, errs, code := soku(t, "latency", addr, "-c", "20", "--no-save", "--token-file", token); code != 0 || strings.Contains(errs, warning) != warned {
			t.Errorf("client, mode %o: status %d, %s", mode, code, errs)
		}
		sys, _, errs := fakeSystem(t)
		f := serverFlags{listen: "127.0.0.1:0", tokenFile: token, quiet: true, foreign: foreignFlags{iperf3: foreignOff, ethr: foreignOff}}
		if _, err := f.config(sys, sys.Stderr); err != nil || strings.Contains(errs.String(), warning) != warned {
			t.Errorf("server, mode %o: %v, %s", mode, err, errs)
		}
	}
}
