package fleet

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"soku/internal/fleet"
	"soku/internal/hub/campaigns"
	"soku/test/built"
	"soku/test/chromium"
	"soku/test/tier"
)

// demo is soku-hub demo as it says that it runs.
type demo struct {
	*process
	URL, Pin, Welcome, Data, Lab string
	Agents                       []string
}

// startDemo starts a demo whose temporary folder is in one of the test.
func startDemo(t *testing.T, more ...string) *demo {
	t.Helper()
	args := append([]string{"demo", "--json", "--listen", "127.0.0.1:0"}, more...)
	d := &demo{process: start(t, []string{"TMPDIR=" + t.TempDir()}, built.Hub(t), args...)}
	d.await("\n}\n")
	text := d.text()
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{\n"):]), d); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return d
}

// interrupt ends a demo as Ctrl-C does, and checks that nothing is left but its results.
func (d *demo) interrupt() {
	d.t.Helper()
	_ = d.cmd.Process.Signal(syscall.SIGINT)
	if code := d.status(); code != 0 {
		d.t.Errorf("status %d: %s", code, d.text())
	}
	if d.Lab == "" {
		return
	}
	if left, err := filepath.Glob("/run/netns/soku-" + d.Lab + ".*"); len(left) > 0 || err != nil {
		d.t.Errorf("%v, %v", left, err)
	}
}

// In a browser a person gets from the link that the demo prints to the report of the plan in the form, without typing
// more than a name and a password.
func TestADemoIsALinkAButtonAndAReport(t *testing.T) {
	ctx := chromium.Start(t)
	d := startDemo(t)
	if !slices.Equal(d.Agents, []string{"west", "east"}) || (d.Lab != "") != (os.Geteuid() == 0) {
		t.Errorf("%+v", d)
	}
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, steps...); err != nil {
			at, _ := chromedp.Run(ctx, chromedp.Location())
			t.Fatalf("%v at %s: %s", err, at, d.text())
		}
	}
	const password = "correct horse battery"
	do(chromedp.Navigate(d.Welcome), chromedp.SendKeys("#name", "ann"), chromedp.SendKeys("#password", password), chromedp.SendKeys("#again", password))
	do(chromedp.Click("button.main"), chromedp.WaitVisible("#agents"), chromedp.Click("button[value=start]"), chromedp.WaitVisible("progress"))
	do(chromedp.WaitVisible(".ended"), chromedp.Click("a.button"), chromedp.WaitVisible("#answers"))
	page, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil || !strings.Contains(page, "streams") {
		t.Errorf("%v: %s", err, page)
	}
	d.interrupt()
	if _, err := os.Stat(d.Data); !os.IsNotExist(err) {
		t.Errorf("%s: %v", d.Data, err)
	}
}

// Without an emulated network a demo needs no rights, and with a folder it keeps what was measured.
func TestADemoRunsOverLoopbackAndKeepsItsFolder(t *testing.T) {
	tier.SpendsSeconds(t)
	s := &site{t: t, folder: t.TempDir(), hubExe: built.Hub(t)}
	data := filepath.Join(s.folder, "hub") // where the site's commands look for a hub
	d := startDemo(t, "--loopback", "--data", data)
	if d.Lab != "" || d.Data != data {
		t.Errorf("%+v", d)
	}
	s.hub = d.process
	file := filepath.Join(s.folder, "plan.yaml")
	text := "campaign: c\nfrom: a\nto: b\nendpoints: {a: {agent: west}, b: {agent: east}}\nfactors: {cable: {by: hand, levels: [red, blue]}}\ntests: {up: {test: tcp, duration: 200ms}}\nrounds: 1\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var state campaigns.State
	s.must(&state, "run", file, "--detach", "--json")
	for range 2 {
		asked := s.state(state.Campaign, func(c campaigns.State) bool {
			return c.Asks != nil && (state.Asks == nil || c.Asks.ID != state.Asks.ID)
		})
		s.must(nil, "confirm", state.Campaign, "--json")
		state.Asks = asked.Asks
	}
	if state = s.state(state.Campaign, ended); state.Done != 2 || state.Error != nil {
		t.Errorf("%+v", state)
	}
	if out, err := s.ask("confirm", state.Campaign); err == nil || !strings.Contains(err.Error(), "waits for no change") {
		t.Errorf("%s, %v", out, err)
	}
	d.interrupt()
	again := startDemo(t, "--loopback", "--data", data)
	if again.Pin != d.Pin {
		t.Error("the next demo with this folder has another certificate")
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: fleet.Pin(again.Pin).Client()}}
	page, err := client.Get(again.URL + "/login")
	if err != nil || page.StatusCode != http.StatusOK {
		t.Fatal(page, err)
	}
	_ = page.Body.Close()
	again.interrupt()
	if files, err := filepath.Glob(filepath.Join(data, "soku.db")); len(files) != 1 || err != nil {
		t.Errorf("%v, %v", files, err)
	}
}

// The next demo removes the network of one that was killed, because its hub has the same port.
func TestADemoThatWasKilledIsCleanedUpByTheNext(t *testing.T) {
	tier.NeedsRoot(t, "network namespaces")
	first := startDemo(t)
	first.kill()
	listen := strings.TrimPrefix(first.URL, "https://")
	next := startDemo(t, "--listen", listen)
	if next.Lab != first.Lab || next.Lab == "" {
		t.Errorf("%q, then %q", first.Lab, next.Lab)
	}
	next.interrupt()
}
