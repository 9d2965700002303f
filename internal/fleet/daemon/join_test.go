package daemon

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/web"
)

func TestAnAgentJoinsOnceAndIsKnownAfterwards(t *testing.T) {
	h := newTestHub(t)
	folder := filepath.Join(t.TempDir(), "agent")
	c := h.config(folder)
	c.Addresses = []fleet.Address{{Name: "public", Address: "198.51.100.7", Asked: true}}
	c.Policy.Rate = 1e6
	a := run(t, c)
	first := await(t, "a greeting", h.hellos, nil)
	if first.Name != "tester" || first.Instance == "" || first.Version != fleet.Version || first.Policy.RateBps != 1e6 || first.Platform != platform {
		t.Errorf("%+v", first)
	}
	if len(first.Addresses) == 0 || first.Addresses[0] != c.Addresses[0] {
		t.Errorf("addresses are %+v", first.Addresses)
	}
	one := await(t, "a beat", h.beats, nil)
	two := await(t, "a beat", h.beats, nil)
	if one.Instance != first.Instance || two.Number != one.Number+1 {
		t.Errorf("%+v, %+v", one, two)
	}
	if line := await(t, "a line", a.lines, nil); !strings.Contains(line, "joined") || !strings.Contains(line, "site=test") {
		t.Error(line)
	}
	a.end()
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{"": 0o700, keyName: 0o600, joinName: 0o600} {
			if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}

	again := h.config(folder)
	again.Hub, again.Pin, again.Token, again.Name = "", "", "", ""
	b := run(t, again)
	second := await(t, "a greeting", h.hellos, nil)
	if second.Instance == first.Instance || second.Name != first.Name || h.asked(fleet.PathJoin) != 1 {
		t.Errorf("%+v after %d requests to join", second, h.asked(fleet.PathJoin))
	}
	b.end()
}

// The token may be too old then; the key is enough.
func TestAnAgentWhosePermissionIsLostGetsAnotherByItsKey(t *testing.T) {
	h := newTestHub(t)
	c := h.config(t.TempDir())
	for _, token := range []string{c.Token, "too old", ""} {
		c.Token = token
		a := run(t, c)
		await(t, "a greeting", h.hellos, nil)
		a.end()
		if err := os.Remove(filepath.Join(c.Folder, joinName)); err != nil {
			t.Fatal(err)
		}
	}
	if h.asked(fleet.PathJoin) != 1 || h.asked(fleet.PathRenew) != 2 {
		t.Errorf("joined %d times, renewed %d times", h.asked(fleet.PathJoin), h.asked(fleet.PathRenew))
	}
	h.edit(func(h *testHub) { h.refuse = true })
	run(t, c).refusedAs("daemon.hub.refused")
}

func TestWhatAHubRefusesEndsTheAgent(t *testing.T) {
	h := newTestHub(t)
	c := h.config(t.TempDir())
	c.Token = "another"
	run(t, c).refusedAs("daemon.hub.refused")
	if n := h.asked(fleet.PathJoin); n != 2 {
		t.Errorf("asked %d times", n)
	}
	c = h.config(t.TempDir())
	c.Pin = fleet.PinOf([]byte("another"))
	run(t, c).refusedAs("fleet.pin.other")
	c.Pin = ""
	run(t, c).refusedAs("daemon.hub.certificate")
	c = h.config(t.TempDir())
	c.Token = ""
	if err := run(t, c).result(); measure.KindOf(err) != measure.KindUsage {
		t.Error(err)
	}
	c.Hub = ""
	if err := run(t, c).result(); measure.KindOf(err) != measure.KindUsage {
		t.Error(err)
	}
}

// A pin that is given takes the place of the one that is remembered, also while the permission lasts.
func TestAWrongPinIsFoundAfterJoining(t *testing.T) {
	h := newTestHub(t)
	c := h.config(t.TempDir())
	a := run(t, c)
	await(t, "a greeting", h.hellos, nil)
	a.end()
	c.Pin = fleet.PinOf([]byte("another"))
	run(t, c).refusedAs("fleet.pin.other")
	c.Pin = ""
	run(t, c)
	await(t, "a greeting", h.hellos, nil)
}

func TestAHubThatIsAwayIsTriedAgainAndSaidOnce(t *testing.T) {
	h := newTestHub(t)
	h.edit(func(h *testHub) { h.down = true })
	a := run(t, h.config(t.TempDir()))
	if line := await(t, "a line", a.lines, nil); !strings.Contains(line, h.https.URL) || !strings.Contains(line, "trying again") {
		t.Error(line)
	}
	deadline := time.Now().Add(patience)
	for h.asked(fleet.PathNonce) < 4 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	h.edit(func(h *testHub) { h.down = false })
	if line := await(t, "a line", a.lines, nil); !strings.Contains(line, "joined") {
		t.Error(line)
	}
	await(t, "a greeting", h.hellos, nil)
}

func TestTwoProcessesDoNotUseOneFolder(t *testing.T) {
	h := newTestHub(t)
	c := h.config(t.TempDir())
	a := run(t, c)
	await(t, "a greeting", h.hellos, nil)
	run(t, c).refusedAs("daemon.state.locked")
	a.end()
}

func TestAClockThatIsOffIsSaidWithBothTimes(t *testing.T) {
	h := newTestHub(t)
	h.edit(func(h *testHub) { h.clock = -48 * time.Hour })
	a := run(t, h.config(t.TempDir()))
	day := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.DateOnly) }
	line := await(t, "a line", a.lines, nil)
	if !strings.Contains(line, day(0)) || !strings.Contains(line, day(-48*time.Hour)) {
		t.Error(line)
	}
}

// The broker ends a connection when its permission does; the agent has another by then.
func TestAPermissionIsRenewed(t *testing.T) {
	h := newTestHub(t)
	h.edit(func(h *testHub) { h.lasts = 2 * time.Second })
	run(t, h.config(t.TempDir()))
	for range 3 {
		await(t, "a greeting", h.hellos, nil)
	}
	if h.asked(fleet.PathJoin) != 1 || h.asked(fleet.PathRenew) < 2 {
		t.Errorf("joined %d times, renewed %d times", h.asked(fleet.PathJoin), h.asked(fleet.PathRenew))
	}
}

// A hub takes an agent without beats as away, and a request over HTTPS may take longer than that.
func TestBeatsGoOnWhileThePermissionIsRenewed(t *testing.T) {
	h := newTestHub(t)
	silent := make(chan struct{})
	h.edit(func(h *testHub) { h.lasts = 4 * time.Second })
	run(t, h.config(t.TempDir()))
	t.Cleanup(func() { close(silent) })
	await(t, "a greeting", h.hellos, nil)
	h.edit(func(h *testHub) { h.silent = silent })
	due := time.Now().Add(2 * time.Second)
	for range 3 {
		await(t, "a beat while the request waits", h.beats, func(b fleet.Beat) bool { return time.Unix(0, b.UnixNs).After(due) })
	}
}

// An agent that was revoked is refused by the broker and then by the hub.
func TestAnAgentThatWasRevokedEnds(t *testing.T) {
	h := newTestHub(t)
	h.edit(func(h *testHub) { h.lasts = 2 * time.Second })
	c := h.config(t.TempDir())
	a := run(t, c)
	await(t, "a greeting", h.hellos, nil)
	h.edit(func(h *testHub) { h.refuse = true; h.token = "changed" })
	a.refusedAs("daemon.hub.refused")
}

func TestTheTimeToRenewIsHalfOfThePermission(t *testing.T) {
	h := newTestHub(t)
	h.lasts = 4 * time.Hour
	h.mu.Lock()
	permission := h.joined(someAgent(t)).JWT
	h.mu.Unlock()
	if after := renewAfter(permission); after.Round(time.Minute) != 2*time.Hour {
		t.Error(after)
	}
	for _, text := range []string{"", "a.b.c", "..", "a.e30.c"} {
		if after := renewAfter(text); after != fleet.JWTLasts/2 {
			t.Errorf("%q: %v", text, after)
		}
	}
}

func TestAddressesOfHubsAreCompleted(t *testing.T) {
	for text, want := range map[string]string{
		"hub": "https://hub:7660", "hub:1": "https://hub:1", "https://hub/": "https://hub:7660", "https://[fd00::1]:7": "https://[fd00::1]:7",
		"a, b:1": "https://a:7660,https://b:1", "a,": "",
		"": "", "http://hub": "", "https://hub/path": "", "https://u@hub": "", "https://": "", "ftp://x": "",
	} {
		if got, err := ParseHub(text); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// A program that accepts connections at the address of the broker may say nothing.
func TestAnAgentEndsWhileItConnects(t *testing.T) {
	h := newTestHub(t)
	broker := must(net.Listen("tcp", "127.0.0.1:0"))
	defer broker.Close()
	h.edit(func(h *testHub) { h.addresses = []string{"tls://" + broker.Addr().String()} })
	a := run(t, h.config(t.TempDir()))
	defer must(broker.Accept()).Close()
	began := time.Now()
	a.end()
	if took := time.Since(began); took > dialTimeout/2 {
		t.Errorf("it took %v", took)
	}
}

func TestThroughWebSocketWhereTheBrokerIsNotReached(t *testing.T) {
	h := newTestHub(t)
	h.edit(func(h *testHub) { h.addresses = []string{"tls://127.0.0.1:1"} })
	a := run(t, h.config(t.TempDir()))
	await(t, "a line", a.lines, func(line string) bool { return strings.Contains(line, "WebSocket") })
	await(t, "a greeting", h.hellos, nil)
	await(t, "a beat", h.beats, nil)
	a.end()
}

func TestAnAgentAsksTheHubThatServes(t *testing.T) {
	h := newTestHub(t)
	c := h.config(t.TempDir())
	serves := c.Hub
	c.Hub = "https://127.0.0.1:1," + serves
	a := run(t, c)
	await(t, "a greeting", h.hellos, nil)
	a.end()
	c.Hub, c.Token = serves+",https://127.0.0.1:1", "" // the same hubs: it need not join again
	a = run(t, c)
	await(t, "a greeting", h.hellos, nil)
	a.end()
}

// A hub that waits for its turn answers, and is none to ask.
func TestAnAgentPassesOverAHubThatWaits(t *testing.T) {
	h := newTestHub(t)
	waiting, err := web.NewWaiting(text.English(), slog.New(slog.DiscardHandler), func() web.Wait { return web.Wait{For: "hub on other"} })
	if err != nil {
		t.Fatal(err)
	}
	other := httptest.NewUnstartedServer(waiting)
	other.TLS = &tls.Config{Certificates: h.https.TLS.Certificates, MinVersion: tls.VersionTLS13}
	other.StartTLS()
	defer other.Close()
	c := h.config(t.TempDir())
	c.Hub = other.URL + "," + c.Hub
	a := run(t, c)
	await(t, "a greeting", h.hellos, nil)
	a.end()
}
