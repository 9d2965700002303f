// Package chromium starts a headless Chromium for tests that look at pages.
package chromium

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"soku/test/tier"
)

// Start starts a Chromium that ends with the test, and returns the context of its first tab. It skips the test
// if there is none. Certificates are not checked.
func Start(t *testing.T) context.Context {
	t.Helper()
	tier.WatchesTheClock(t) // a browser is slow enough without a race detector
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium on this machine: the pages are not looked at")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.IgnoreCertErrors,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Second)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	// Cancel waits for the browser, so that its folder can be removed.
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); closeTab() })
	if err := chromedp.Do(ctx); err != nil {
		t.Skipf("Chromium does not start here: %v", err)
	}
	return ctx
}
