package iperf3

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/wire/iperf3"
)

// credentials are the files of a server with the user mario, and of its clients.
func credentials(t *testing.T) (private, public, users string) {
	t.Helper()
	dir := t.TempDir()
	private, public, users = filepath.Join(dir, "private.pem"), filepath.Join(dir, "public.pem"), filepath.Join(dir, "users.csv")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	half, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string][]byte{
		private: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		public:  pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: half}),
		users:   []byte("mario," + iperf3.HashPassword("mario", "rossi") + "\n"),
	} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return private, public, users
}

// callers are credentials, and whether the server accepts them.
var callers = []struct {
	user, password string
	welcome        bool
}{{"mario", "rossi", true}, {"mario", "bianchi", false}, {"luigi", "rossi", false}}

// knowsOAEP reports whether the installed iperf3 pads credentials as versions since 3.17.
func knowsOAEP(t *testing.T, program string) bool {
	t.Helper()
	return strings.Contains(execute(t, program, "-h").stdout, "pkcs1")
}

func TestAServerAuthenticatesTheUsersOfIperf3(t *testing.T) {
	t.Parallel()
	program := realProgram(t)
	private, public, users := credentials(t)
	args := []string{"--rsa-private-key-path", private, "--authorized-users-path", users}
	if !knowsOAEP(t, program) {
		args = append(args, "--use-pkcs1-padding")
	}
	s := startOurs(t, args...)
	for _, c := range callers {
		cmd := exec.CommandContext(t.Context(), program, "-c", "127.0.0.1", "-p", s.port, "-n", "1M", "--username", c.user, "--rsa-public-key-path", public)
		cmd.Env = append(os.Environ(), "IPERF3_PASSWORD="+c.password)
		if out, err := cmd.CombinedOutput(); (err == nil) != c.welcome || !c.welcome && !strings.Contains(string(out), "authorization failed") {
			t.Errorf("%+v: %v, %s", c, err, out)
		}
	}
	if out := execute(t, program, "-c", "127.0.0.1", "-p", s.port, "-n", "1M"); out.code != 1 || !strings.Contains(out.stderr, "authorization failed") {
		t.Errorf("without a user: %+v", out)
	}
	s.stop()
	if got := s.result(t); strings.Count(got.stderr, "test authorization failed") != 3 || strings.Count(got.stdout, "receiver") != 1 {
		t.Errorf("the server: %s%s", got.stdout, got.stderr)
	}
}

// known runs soku as a client with a password in the environment, or typed at the
// prompt.
func known(t *testing.T, inEnvironment bool, user, password, public, port string) output {
	t.Helper()
	var out, errs safeBuffer
	env := environment(&out, &errs)
	if inEnvironment {
		env.Getenv = func(name string) string { return map[string]string{"IPERF3_PASSWORD": password}[name] }
	} else {
		env.ReadPassword = func() (string, error) { return password, nil }
	}
	code := Run(t.Context(), env, []string{"-c", "127.0.0.1", "-p", port, "-n", "1M", "--username", user, "--rsa-public-key-path", public})
	return output{out.String(), errs.String(), code}
}

func TestAClientAuthenticatesItsUser(t *testing.T) {
	t.Parallel()
	private, public, users := credentials(t)
	servers := map[string]func(t *testing.T) string{
		"soku": func(t *testing.T) string {
			return startOurs(t, "-1", "--rsa-private-key-path", private, "--authorized-users-path", users).port
		},
	}
	// Before 3.17 iperf3 knows only PKCS #1 v1.5, which clients of later versions do not send.
	if knowsOAEP(t, realProgram(t)) {
		servers["iperf3"] = func(t *testing.T) string {
			port, _ := realServer(t, "--rsa-private-key-path", private, "--authorized-users-path", users)
			return port
		}
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			for i, c := range callers {
				out := known(t, i%2 == 0, c.user, c.password, public, start(t))
				if (out.code == 0) != c.welcome || !c.welcome && !strings.Contains(out.stderr, "authorization failed") && !strings.Contains(out.stderr, "control socket has closed") {
					t.Errorf("%+v: %+v", c, out)
				}
			}
			out := known(t, false, "mario", "rossi", public, start(t))
			if out.code != 0 || !strings.HasPrefix(out.stdout, "Password: \n") {
				t.Errorf("a password that is typed: %+v", out)
			}
		})
	}
	if out := known(t, true, "mario", "", public, "1"); out.code != 1 || !strings.Contains(out.stderr, `no password for user "mario"`) {
		t.Errorf("without a password: %+v", out)
	}
	if out := known(t, true, "mario", "rossi", users, "1"); out.code != 1 || !strings.Contains(out.stderr, "check --rsa-public-key-path") {
		t.Errorf("with a file that is no key: %+v", out)
	}
}
