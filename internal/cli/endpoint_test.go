package cli

import (
	"context"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"soku/internal/durable"
	"soku/internal/fleet/endpoint"
)

// serveHost runs the server of a host until the test ends; copyRoot is its folder for copies,
// or empty.
func serveHost(t *testing.T, copyRoot string, ports ...int) (port int) {
	t.Helper()
	at, run, err := endpoint.Listen(endpoint.Server{Ports: ports, Token: "of the test", CopyRoot: copyRoot})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return at.Port
}

func TestTheServerOfAHostIsForItsCampaignOnly(t *testing.T) {
	test := []string{"latency", net.JoinHostPort("127.0.0.1", strconv.Itoa(serveHost(t, "", 0))), "-c", "1", "--no-save"}
	if _, errs, code := soku(t, test...); code != 5 || !strings.Contains(errs, "token") {
		t.Errorf("without the token: status %d, %s", code, errs)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := durable.WriteFile(token, []byte("of the test"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := soku(t, append(test, "--token-file", token)...); code != 0 {
		t.Errorf("with it: status %d, %s", code, errs)
	}
}

func TestTheServerOfAHostTakesCopiesInItsFolder(t *testing.T) {
	root := t.TempDir()
	token := filepath.Join(t.TempDir(), "token")
	if err := durable.WriteFile(token, []byte("of the test"), 0o600); err != nil {
		t.Fatal(err)
	}
	copyTo := func(copyRoot string) (string, int) {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(serveHost(t, copyRoot, 0)))
		_, errs, code := soku(t, "copy", address, "--disk", t.TempDir(), "--file-size", "64Ki", "--token-file", token, "--no-save")
		return errs, code
	}
	if errs, code := copyTo(""); code != 5 || !strings.Contains(errs, "--copy-root") {
		t.Errorf("without a folder: status %d, %s", code, errs)
	}
	if errs, code := copyTo(root); code != 0 {
		t.Errorf("with one: status %d, %s", code, errs)
	}
	if left, err := filepath.Glob(filepath.Join(root, "*")); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}
