package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// endless is a file without an end, such as /dev/zero or a pipe from yes. It counts what is read.
type endless struct {
	fs.File
	read *int64
}

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '#'
	}
	*e.read += int64(len(b))
	return len(b), nil
}

// Every command that reads a file which a person names ends where the file does not.
func TestAFileWithoutAnEndIsReadToItsBound(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	name, table, secret := file("endless.yaml", ""), file("table.csv", "a,b\n1,2\n"), file("secret", "secret\n")
	answers := file("new.yaml.answers", "")
	plan := file("plan.yaml", "campaign: x\nlab: endless.yaml\nendpoints: {a: {host: a}, b: {host: b}}\nfrom: a\nto: b\ntests: {up: {test: tcp}}\n")
	limited := file("limited.yaml", "campaign: x\nendpoints: {a: {address: a, limits: {catalog: azure/Standard_D8s_v5}}}\nto: a\ntests: {up: {test: tcp}}\n")
	for _, args := range [][]string{
		{"plan", name}, {"plan", plan}, {"run", name}, {"lab", "up", name}, {"lab", "down", name}, {"check", name}, {"plan", "--catalog", name, limited},
		{"ingest", "--campaign", "x", name}, {"ingest", "--map", name, table}, {"tcp", "h", "--token-file", name}, {"tcp", "h", "--tls-ca", name},
		{"tcp", "h", "--via", "iperf3", "--user", "u", "--password-file", name, "--rsa-public-key-file", secret},
		{"tcp", "h", "--via", "iperf3", "--user", "u", "--password-file", secret, "--rsa-public-key-file", name},
		{"server", "--token-file", name}, {"server", "--tls-cert", name, "--tls-key", secret}, {"server", "--tls-cert", secret, "--tls-key", name},
		{"server", "--rsa-private-key-file", name, "--authorized-users-file", secret}, {"new", "-o", strings.TrimSuffix(answers, ".answers")},
	} {
		sys, _, errs := fakeSystem(t, args...)
		sys.StdinTerminal = func() bool { return true }
		open, read := sys.Open, int64(0)
		sys.Open = func(path string) (fs.File, error) {
			f, err := open(path)
			if (path == name || path == answers) && err == nil {
				f = endless{f, &read}
			}
			return f, err
		}
		code := Run(sys)
		if code == 0 || !strings.Contains(errs.String(), "more than") || read == 0 || read > 65<<20 || args[0] == "new" && read > mostFileBytes+1<<10 {
			t.Errorf("%q: status %d after %d bytes: %s", args, code, read, errs)
		}
	}
}
