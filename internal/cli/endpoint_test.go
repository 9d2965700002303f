package cli

import (
	"context"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"soku/internal/fleet/ssh"
	"soku/internal/measure"
)

// serveHost runs the server of a host until the test ends.
func serveHost(t *testing.T, ports ...int) (port int) {
	t.Helper()
	port, run, err := listenFor(ssh.Serve{Ports: ports, Token: "of the test"})
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
	return port
}

func TestTheServerOfAHostTakesTheFirstPortThatIsFree(t *testing.T) {
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := taken.Addr().(*net.TCPAddr).Port
	if port := serveHost(t, busy, 0); port == busy || port == 0 {
		t.Errorf("port %d beside %d", port, busy)
	}
	_, _, err = listenFor(ssh.Serve{Ports: []int{busy}, Token: "of the test"})
	if e := measure.AsError(err, ""); e == nil || e.Code != "server.listen.in_use" {
		t.Errorf("without a free port: %v", err)
	}
}

func TestTheServerOfAHostIsForItsCampaignOnly(t *testing.T) {
	test := []string{"latency", net.JoinHostPort("127.0.0.1", strconv.Itoa(serveHost(t, 0))), "-c", "1", "--no-save"}
	if _, errs, code := soku(t, test...); code != 5 || !strings.Contains(errs, "token") {
		t.Errorf("without the token: status %d, %s", code, errs)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := writeWhole(token, []byte("of the test"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := soku(t, append(test, "--token-file", token)...); code != 0 {
		t.Errorf("with it: status %d, %s", code, errs)
	}
}
