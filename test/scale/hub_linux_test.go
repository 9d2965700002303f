package scale_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/fleet/enrol"
	"soku/test/built"
	"soku/test/freeport"
	"soku/test/output"
)

// hub is a hub that runs in a process of its own.
type hub struct {
	t      testing.TB
	data   string
	port   int // of HTTPS; the next one is that of NATS
	flags  []string
	cmd    *exec.Cmd
	client *http.Client
	tls    *tls.Config
}

// newHub starts a hub with further flags.
func newHub(t testing.TB, flags ...string) *hub {
	t.Helper()
	h := &hub{t: t, data: t.TempDir(), port: freeport.Row(t, 2), flags: flags}
	h.start()
	t.Cleanup(h.kill)
	text, err := os.ReadFile(filepath.Join(h.data, "hub", "hub.json"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct {
		Pin fleet.Pin `json:"pin"`
	}
	if err := json.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	h.tls = about.Pin.Client()
	h.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: h.tls, MaxIdleConnsPerHost: atOnce}}
	t.Cleanup(h.client.CloseIdleConnections)
	return h
}

// start starts the process, also after kill, and returns when it serves.
func (h *hub) start() {
	h.t.Helper()
	said := &output.Buffer{}
	h.cmd = exec.Command(built.Hub(h.t), append([]string{"serve", "--name", "127.0.0.1",
		"--listen", fmt.Sprintf("127.0.0.1:%d", h.port), "--listen-nats", fmt.Sprintf("127.0.0.1:%d", h.port+1)}, h.flags...)...)
	h.cmd.Env, h.cmd.Stdout, h.cmd.Stderr = append(os.Environ(), "SOKU_DATA="+h.data), said, said
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	select {
	case <-said.Has("admin-token"):
	case <-time.After(time.Minute):
		h.t.Fatalf("the hub does not serve: %s", said)
	}
}

// kill is kill -9.
func (h *hub) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

// post sends a request as a person or, without a token, as an agent.
func (h *hub) post(path, token string, message, answer any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, fmt.Sprintf("https://127.0.0.1:%d%s", h.port, path), bytes.NewReader(body))
	if err != nil {
		return err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	got, err := h.client.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, got.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

// admin is the token of people.
func (h *hub) admin() string {
	text, err := os.ReadFile(filepath.Join(h.data, "hub", "admin-token"))
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// connect is a further connection with the rights of the hub.
func (h *hub) connect() *nats.Conn {
	h.t.Helper()
	authority, err := enrol.OpenAuthority(filepath.Join(h.data, "hub", "keys"))
	if err != nil {
		h.t.Fatal(err)
	}
	proof, err := authority.Hub()
	if err != nil {
		h.t.Fatal(err)
	}
	c, err := nats.Connect(h.broker(), proof, nats.Secure(h.tls))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(c.Close)
	return c
}

func (h *hub) broker() string { return fmt.Sprintf("tls://127.0.0.1:%d", h.port+1) }

// memory is the resident memory of the hub in MB.
func (h *hub) memory() float64 {
	return float64(stat(h.t, h.cmd.Process.Pid, residentPages)) * float64(os.Getpagesize()) / 1e6
}

// processor is the time of processors that the hub has used.
func (h *hub) processor() time.Duration { return processor(h.t, h.cmd.Process.Pid) }
