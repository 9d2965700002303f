package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/hub"
	"soku/internal/hub/campaigns"
	"soku/test/chromium"
)

// checks of a page: those of reports.
var checks = sync.OnceValue(func() string {
	text, err := os.ReadFile("../report/testdata/page.js")
	if err != nil {
		panic(err)
	}
	return string(text)
})

// tab is a tab of a browser.
type tab struct {
	t    *testing.T
	ctx  context.Context
	keep string // folder for pictures; empty: none are kept
}

func (b tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b tab) location() string {
	b.t.Helper()
	at, err := chromedp.Run(b.ctx, chromedp.Location())
	if err != nil {
		b.t.Fatal(err)
	}
	return at
}

// look checks the page on a telephone and a wide screen, light and dark.
func (b tab) look(name string) {
	b.t.Helper()
	for _, width := range []int64{360, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
			if err == nil {
				_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			}
			var found []string
			if err == nil {
				found, err = chromedp.Run(b.ctx, chromedp.Evaluate[[]string](checks()+";[...checks.scroll(), ...checks.contrast()]"))
			}
			if err != nil {
				b.t.Fatal(err)
			}
			for _, f := range found {
				b.t.Errorf("%s, %d px, %s: %s", name, width, scheme, f)
			}
			if b.keep == "" {
				continue
			}
			picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			if err == nil {
				err = os.WriteFile(filepath.Join(b.keep, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o644)
			}
			if err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// With SOKU_PICTURES=FOLDER the pages are kept there as pictures.
func TestAPersonInABrowserGetsFromTheLinkToTheReport(t *testing.T) {
	ctx := chromium.Start(t)
	s := newSite(t)
	now := time.Now()
	s.agents.all = []hub.Agent{
		{ID: "UAAAAAAAAAAAAAAA", Name: "vm1", State: hub.Connected, Heard: now, Labels: map[string]string{"zone": "west", "sku": "Standard_D96ads_v6"}, ClockAt: now,
			Clock: agent.Clock{Offset: 812 * time.Microsecond, Uncertainty: 90 * time.Microsecond}, Hello: fleet.Hello{Program: "1.4.0", Platform: "linux/amd64", Addresses: []fleet.Address{{Address: "10.0.0.5"}}}},
		{ID: "UBBBBBBBBBBBBBBB", Name: strings.Repeat("very-long-name-", 8), State: hub.Away, Heard: now.Add(-time.Hour), Labels: map[string]string{"zone": "east"},
			Beat: fleet.Beat{Full: true}, ClockAt: now, Clock: agent.Clock{Offset: -3 * time.Second}},
	}
	var mu sync.Mutex
	var complaints []string
	err := chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*cdplog.EventEntryAdded); ok {
			mu.Lock()
			defer mu.Unlock()
			complaints = append(complaints, e.Entry.Text+" "+e.Entry.URL)
		}
	})
	if err == nil {
		_, err = chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	}
	link, failed := s.users.FirstLink(t.Context())
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	b := tab{t, ctx, os.Getenv("SOKU_PICTURES")} //nolint:forbidigo // a test
	b.do(chromedp.Navigate(s.URL + "/welcome/" + link))
	b.look("welcome")
	b.do(chromedp.SendKeys("#name", "root"), chromedp.SendKeys("#password", password), chromedp.SendKeys("#again", password), chromedp.Click("button.main"), chromedp.WaitVisible("#agents"))
	b.do(chromedp.Click(".bar button"), chromedp.WaitVisible("#password"))
	b.look("login")
	b.do(chromedp.SendKeys("#name", "root"), chromedp.SendKeys("#password", password), chromedp.Click("button.main"), chromedp.WaitVisible("#agents"))
	b.look("hub")
	b.do(chromedp.Click("summary"), chromedp.WaitVisible("#uses"), chromedp.Click("details button.main"), chromedp.WaitVisible(".command"))
	b.look("joined")
	b.do(chromedp.Navigate(s.URL+"/"), chromedp.SetValue("#plan", s.plan("Two hosts")), chromedp.Click(`button[value=check]`), chromedp.WaitVisible("#what"))
	b.look("plan")
	b.do(chromedp.Click(`button[value=start]`), chromedp.WaitVisible("progress"))
	id := b.location()[strings.LastIndex(b.location(), "/")+1:]
	s.waiting = []hub.Wait{{Holder: id, Hosts: []string{"UAAAAAAAAAAAAAAA"}, For: []string{"20260102-030405-east-1a2b3c"}}}
	s.until(t, id, func(c campaigns.State) bool { return len(c.Running) == 1 })
	b.do(chromedp.Navigate(s.URL+"/campaigns/"+id), chromedp.WaitVisible("#waits"))
	b.look("campaign")
	b.do(chromedp.Focus("button.danger"))
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.dataset.loaded = 'once'")); err != nil {
		t.Fatal(err)
	}
	s.pass <- struct{}{}
	b.do(chromedp.WaitVisible("a.button"))
	if focus, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.dataset.loaded + ' ' + document.activeElement.className")); err != nil || focus != "once danger" {
		t.Errorf("%s, %v", focus, err)
	}
	close(s.pass)
	s.until(t, id, func(c campaigns.State) bool { return c.EndedAt != nil })
	b.do(chromedp.WaitVisible(".ended")) // by itself
	b.look("ended")
	for name, path := range map[string]string{"overview": "/", "campaigns": "/campaigns"} {
		b.do(chromedp.Navigate(s.URL+path), chromedp.WaitVisible("main table"))
		b.look(name)
	}
	b.do(chromedp.Navigate(s.URL+"/campaigns/"+id), chromedp.Click("a.button"), chromedp.WaitVisible("#answers"))
	b.look("report")
	b.do(chromedp.Click("nav a"), chromedp.WaitVisible(".ended")) // back to the campaign
	b.do(chromedp.Navigate(s.URL+"/"), chromedp.SetValue("#plan", s.plan("By hand")+"factors: {cable: {by: hand, levels: [the red one, the blue one]}}\n"))
	b.do(chromedp.Click(`button[value=start]`), chromedp.WaitVisible("#asks"))
	b.look("asks")
	asking := b.location()
	b.do(chromedp.Click(".ask button"))
	s.until(t, asking[strings.LastIndex(asking, "/")+1:], func(c campaigns.State) bool { return c.Asks != nil && c.Asks.Number == 2 })
	b.do(chromedp.Navigate(asking), chromedp.Click("button.danger"), chromedp.WaitVisible(".ended")) // a page on which nothing changes meanwhile
	b.do(chromedp.Navigate(s.URL + "/audit"))
	b.look("audit")
	b.do(chromedp.Navigate(s.URL + "/nothing"))
	mu.Lock()
	defer mu.Unlock()
	for _, c := range complaints {
		if !strings.HasSuffix(c, "/nothing") { // whose status is an error
			t.Errorf("the browser complains: %s", c)
		}
	}
}
