package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"soku/test/chromium"
)

// Checks of testdata/page.js, by what they look at.
var (
	checksOfWidths = []string{"scroll", "cut", "overlap", "small", "named"}
	checksOfPaper  = []string{"scroll", "broken", "divided"}
)

// a4Width and a4Height are a sheet less its margins, in pixels of CSS.
const a4Width, a4Height = 688, 1000

// check runs a check in the page and fails the test with what it found.
func check(ctx context.Context, t *testing.T, name, where string) {
	t.Helper()
	call := "checks." + name + "()"
	if name == "divided" {
		call = "checks.divided(" + strconv.Itoa(a4Height) + ")"
	}
	if wrong := evaluate[[]string](ctx, t, call); len(wrong) > 0 {
		t.Errorf("%s, %s: %s", name, where, strings.Join(wrong, "; "))
	}
}

// resize gives the screen of an open page another size and colour scheme.
func resize(ctx context.Context, t *testing.T, width, height int64, media, scheme string) {
	t.Helper()
	_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500})
	if err == nil {
		_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unfold opens what is folded.
func unfold(ctx context.Context, t *testing.T) {
	t.Helper()
	evaluate[int](ctx, t, `document.querySelectorAll('details').forEach(d => d.open = true), 1`)
}

// Each page is opened once, and then looked at in all ways.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	ctx := chromium.Start(t)
	for _, p := range testPages() {
		t.Run(p.name, func(t *testing.T) {
			show(ctx, t, pageFile(t, p.input()), emulation.SetDeviceMetricsOverrideParams{Width: 1200, Height: 900}, emulation.SetEmulatedMediaParams{})
			t.Run("first screen", func(t *testing.T) { answersOnFirstScreen(ctx, t, p) })
			t.Run("paper", func(t *testing.T) { fitsPaper(ctx, t, p) })
			unfold(ctx, t)
			t.Run("contrast", func(t *testing.T) { hasContrast(ctx, t, p) })
			t.Run("widths", func(t *testing.T) { fitsWidths(ctx, t, p) })
			t.Run("rows", func(t *testing.T) { hasLowRows(ctx, t, p) })
		})
	}
}

// The first screen of a desk has the first answer and the beginning of a table or a chart. Pages
// of many patterns do not have it before their answers are shorter and their table is not folded.
func answersOnFirstScreen(ctx context.Context, t *testing.T, p testPage) {
	if !p.long && !p.large {
		check(ctx, t, "firstScreen", "1200 x 900")
	}
}

// hasContrast looks at both colour schemes, which do not depend on the width.
func hasContrast(ctx context.Context, t *testing.T, p testPage) {
	for _, width := range p.widths(360, 1200) {
		for _, scheme := range []string{"light", "dark"} {
			resize(ctx, t, width, 900, "", scheme)
			check(ctx, t, "contrast", fmt.Sprintf("%d px, %s", width, scheme))
		}
	}
}

func fitsWidths(ctx context.Context, t *testing.T, p testPage) {
	for _, width := range p.widths(360, 768, 1200, 1920) {
		resize(ctx, t, width, 900, "", "light")
		for _, name := range checksOfWidths {
			check(ctx, t, name, fmt.Sprintf("%d px", width))
		}
		if width == 360 {
			check(ctx, t, "mainFigure", "360 px")
		}
	}
}

func hasLowRows(ctx context.Context, t *testing.T, p testPage) {
	if !p.long {
		resize(ctx, t, 1200, 900, "", "light")
		check(ctx, t, "rows", "1200 px")
	}
}

func fitsPaper(ctx context.Context, t *testing.T, p testPage) {
	resize(ctx, t, a4Width, a4Height, "print", "light")
	for _, name := range checksOfPaper {
		check(ctx, t, name, "paper")
	}
	if p.large {
		return
	}
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(func(p *page.PrintToPDFParams) {
		p.PreferCSSPageSize, p.GenerateTaggedPDF, p.GenerateDocumentOutline = new(true), new(true), new(true)
	}))
	if err != nil {
		t.Fatal(err)
	}
	headings := regexp.MustCompile(`/Dest \[\d+ 0 R /XYZ [\d.]+ ([\d.]+) `).FindAllSubmatch(pdf, -1)
	if len(headings) == 0 {
		t.Error("the PDF has no headings")
	}
	for _, h := range headings {
		if at, err := strconv.ParseFloat(string(h[1]), 64); err != nil || at < headingRoom {
			t.Errorf("a heading is alone at the end of a sheet, %.0f points from its lower edge (%v)", at, err)
		}
	}
}

// headingRoom is the distance of the lower edge of a sheet from a heading above a line of text,
// in points: a margin of 16 mm and two lines.
const headingRoom = 45 + 30

// sheets is how many a PDF has.
func sheets(pdf []byte) int { return len(regexp.MustCompile(`/Type /Page\s`).FindAll(pdf, -1)) }

// TestAccessibilityOfPages looks for what axe-core finds serious or critical.
func TestAccessibilityOfPages(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("../../bin/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: make peers fetches it")
	}
	ctx := chromium.Start(t)
	for _, p := range testPages() {
		if p.large {
			continue // as the others, and axe-core takes minutes
		}
		t.Run(p.name, func(t *testing.T) {
			show(ctx, t, pageFile(t, p.input()), emulation.SetDeviceMetricsOverrideParams{Width: 1200, Height: 900}, emulation.SetEmulatedMediaParams{})
			unfold(ctx, t)
			evaluate[int](ctx, t, string(axe)+"\n;1")
			// The test of widths looks at contrasts.
			wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run({resultTypes: ['violations'], rules: {'color-contrast': {enabled: false}}}).then(r => r.violations
				.map(v => v.impact + ' ' + v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(' ')))`, chromedp.EvalAwaitPromise))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range wrong {
				if strings.HasPrefix(w, "serious") || strings.HasPrefix(w, "critical") {
					t.Error(w)
				}
			}
		})
	}
}

// Bounds of a sample, so that a reader scrolls and prints little.
const (
	mostSampleHeight = 6000 // pixels at a width of 1200
	mostSampleSheets = 8    // A4
)

func TestTheSamplesAreShort(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/samples/*.html")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	ctx := chromium.Start(t)
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			file, err := filepath.Abs(name)
			if err != nil {
				t.Fatal(err)
			}
			show(ctx, t, file, emulation.SetDeviceMetricsOverrideParams{Width: 1200, Height: 900}, emulation.SetEmulatedMediaParams{})
			check(ctx, t, "firstScreen", "1200 x 900")
			check(ctx, t, "rows", "1200 px")
			height := evaluate[int](ctx, t, "document.documentElement.scrollHeight")
			pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(func(p *page.PrintToPDFParams) { p.PreferCSSPageSize = new(true) }))
			if err != nil {
				t.Fatal(err)
			}
			if t.Logf("%d px, %d sheets", height, sheets(pdf)); height > mostSampleHeight || sheets(pdf) > mostSampleSheets {
				t.Errorf("%d px, %d sheets; at most %d px and %d sheets", height, sheets(pdf), mostSampleHeight, mostSampleSheets)
			}
		})
	}
}
