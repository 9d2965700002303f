package report

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"soku/internal/measure"
	"soku/internal/report/printer"
	"soku/internal/text"
	"soku/test/chromium"
)

// complaints are what a page does that it must not.
type complaints struct {
	mu   sync.Mutex
	list []string
}

func (c *complaints) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

func (c *complaints) watch(ctx context.Context) error {
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, "file:") && !strings.HasPrefix(u, "data:") {
				c.add("request of %s", u)
			}
		case *runtime.EventConsoleAPICalled:
			c.add("console: %s", e.Type)
		case *runtime.EventExceptionThrown:
			c.add("exception: %s", e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			c.add("log: %s", e.Entry.Text)
		}
	})
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, runtime.Enable, cdp.Empty{})
	}
	return err
}

// show opens a page as a screen of that size would, with the checks of testdata/page.js.
func show(ctx context.Context, t *testing.T, file string, screen emulation.SetDeviceMetricsOverrideParams, media emulation.SetEmulatedMediaParams) {
	t.Helper()
	screen.DeviceScaleFactor = 1
	_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, screen)
	if err == nil {
		_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
	}
	if err == nil {
		err = chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.ToSlash(file)))
	}
	checks, missing := os.ReadFile("testdata/page.js")
	if err != nil || missing != nil {
		t.Fatal(err, missing)
	}
	evaluate[int](ctx, t, string(checks))
}

// evaluate runs an expression in the page.
func evaluate[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const visibleCharts = `[...document.querySelectorAll('svg[role=img]')].filter(e => e.getBoundingClientRect().width > 0).map(e => e.id.replace(/-(wide|narrow)$/, ''))`

// A picture is an image of its own for a page: it has a size, and nothing that the page would have to load.
func TestAPictureIsAnImageInABrowser(t *testing.T) {
	t.Parallel()
	ctx := chromium.Start(t)
	dir := t.TempDir()
	page := "<!doctype html>"
	pictures := build(t, loaded(campaignWithFailure(), 64, 0.5)).Pictures(text.English())
	for _, p := range pictures {
		name := p.Name + ".svg"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(written(t, func(w io.Writer) error { return printer.SVG(w, p) })), 0o644); err != nil {
			t.Fatal(err)
		}
		page += `<img alt="" src="` + name + `">`
	}
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	show(ctx, t, file, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 900}, emulation.SetEmulatedMediaParams{})
	if shown := evaluate[int](ctx, t, `[...document.images].filter(i => i.complete && i.naturalWidth > 300 && i.naturalHeight > 80).length`); shown != len(pictures) || shown < 10 {
		t.Errorf("%d of %d pictures are shown", shown, len(pictures))
	}
}

func TestThePageInABrowser(t *testing.T) {
	t.Parallel()
	ctx := chromium.Start(t)
	in := loaded(campaignWithFailure(), 64, 0.5)
	in.Results[0].Findings = measure.OfSentences([]string{strings.Repeat("unbreakable", 40)})
	in.Campaign.Plan += strings.Repeat("x", 400)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(written(t, inEnglish(build(t, in).HTML))), 0o644); err != nil {
		t.Fatal(err)
	}
	var c complaints
	if err := c.watch(ctx); err != nil {
		t.Fatal(err)
	}
	for _, look := range []struct {
		name   string
		width  int64
		height int64
		scheme string
	}{{"phone", 360, 800, "light"}, {"tablet", 760, 1000, "light"}, {"desk", 1280, 900, "light"}, {"desk at night", 1280, 900, "dark"}} {
		t.Run(look.name, func(t *testing.T) {
			show(ctx, t, file, emulation.SetDeviceMetricsOverrideParams{Width: look.width, Height: look.height, Mobile: look.width < 500},
				emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}})
			evaluate[int](ctx, t, `document.querySelectorAll('details').forEach(d => d.open = true), 1`)
			charts, background := evaluate[[]string](ctx, t, visibleCharts), evaluate[string](ctx, t, `getComputedStyle(document.body).backgroundColor`)
			for _, name := range checksOfWidths {
				check(ctx, t, name, look.name)
			}
			want := "t1-answer-chart t1-trials t1-load t1-load-time-0 t1-load-time-1 t1-load-time-2 t1-load-time-3 t1-streams-0 t1-streams-1 t1-streams-2 t1-streams-3 " +
				"t1-time-0 t1-time-1 t1-time-2 t1-time-3 t1-coverage t2-answer-chart t2-trials t2-percentiles t2-time-0 t2-time-1 t2-time-2 t2-time-3"
			if got := strings.Join(charts, " "); got != want {
				t.Errorf("charts shown: %s\nwant %s", got, want)
			}
			if light := background == "rgb(255, 255, 255)"; light != (look.scheme == "light") {
				t.Errorf("background %s with a %s colour scheme", background, look.scheme)
			}
		})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) > 0 {
		t.Errorf("the page complains or calls out: %s", strings.Join(c.list, "; "))
	}
}

func TestThePagePrints(t *testing.T) {
	t.Parallel()
	ctx := chromium.Start(t)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(written(t, inEnglish(build(t, campaignWithFailure()).HTML))), 0o644); err != nil {
		t.Fatal(err)
	}
	// A4 less its margins at 96 dots an inch.
	show(ctx, t, file, emulation.SetDeviceMetricsOverrideParams{Width: 688, Height: 1000}, emulation.SetEmulatedMediaParams{Media: "print"})
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(func(p *page.PrintToPDFParams) { p.PreferCSSPageSize = new(true) }))
	if err != nil {
		t.Fatal(err)
	}
	if n := sheets(pdf); n > 5 {
		t.Errorf("24 trials print on %d sheets", n)
	}
}

// Colours of a map are there on screens and on paper, and its text is readable on all of them.
func TestAMapOfHostsInABrowser(t *testing.T) {
	t.Parallel()
	ctx := chromium.Start(t)
	file := filepath.Join(t.TempDir(), "report.html")
	m := slowServer()
	m.hosts, m.rounds = hostsNamed(12), 2
	if err := os.WriteFile(file, []byte(written(t, inEnglish(build(t, m.input()).HTML))), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, look := range []struct {
		name, media, scheme string
		width               int64
	}{{"phone", "screen", "light", 360}, {"desk at night", "screen", "dark", 1200}, {"paper", "print", "light", 688}} {
		t.Run(look.name, func(t *testing.T) {
			show(ctx, t, file, emulation.SetDeviceMetricsOverrideParams{Width: look.width, Height: 900, Mobile: look.width < 500},
				emulation.SetEmulatedMediaParams{Media: look.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}})
			colours := evaluate[[]string](ctx, t, `[...new Set([...document.querySelectorAll('.heat-scale span')].map(e => getComputedStyle(e).backgroundColor))]`)
			if len(colours) != 5 {
				t.Errorf("the scale has the colours %q", colours)
			}
			check(ctx, t, "contrast", look.name)
		})
	}
}

// Charts of curves, one or several, keep their texts inside at every width.
func TestCurvesInABrowser(t *testing.T) {
	t.Parallel()
	ctx := chromium.Start(t)
	for name, zones := range map[string][]string{"one": {"1"}, "several": {"1", "2", "3"}} {
		in := streamSweep(zones...).input()
		in.Design.Limits = func(*measure.Result) []measure.Limit { return []measure.Limit{{Metric: "goodput_bps", Value: 12e8}} }
		file := filepath.Join(t.TempDir(), "report.html")
		if err := os.WriteFile(file, []byte(written(t, inEnglish(build(t, in).HTML))), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{360, 1200} {
			show(ctx, t, file, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, Mobile: width < 500}, emulation.SetEmulatedMediaParams{})
			for _, c := range checksOfWidths {
				check(ctx, t, c, name)
			}
			if charts := evaluate[[]string](ctx, t, visibleCharts); !strings.Contains(strings.Join(charts, " "), "-sweep") {
				t.Errorf("%s at %d pixels: charts %q", name, width, charts)
			}
		}
	}
}
