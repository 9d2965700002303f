// Package browser shows a page on this host, and writes it as PDF and as a picture: work that an installed
// Chromium, Chrome or Edge takes on its command line. Nothing is downloaded, and the page needs no network.
package browser

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"soku/internal/measure"
)

const (
	printTime        = 2 * time.Minute // for one page, at most
	printGrace       = 5 * time.Second // after that for the processes of the browser to end
	mostPrintedBytes = 256 << 20
	// The picture is what a reader sees first of the page, in this size.
	pictureSize  = "1200,900"
	pictureScale = "2" // pixels of the picture per pixel of the page
)

// Variable names the environment variable for the browser to use.
const Variable = "SOKU_BROWSER"

// Browser is the browser of a host. It may be used from several goroutines.
type Browser struct {
	Getenv func(string) string
	// Command makes a process that dies with ctx, as exec.CommandContext.
	Command func(ctx context.Context, name string, args ...string) *exec.Cmd
	// Root reports whether the process is root's, for whom browsers have no sandbox. The page must then be
	// one without scripts.
	Root bool
}

// Programs are the names of the programs to try, the first that is there.
func (b Browser) Programs() []string {
	if name := b.Getenv(Variable); name != "" {
		return []string{name}
	}
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "microsoft-edge-stable", "msedge"}
	switch runtime.GOOS {
	case "darwin":
		for _, name := range []string{"Google Chrome", "Chromium", "Microsoft Edge"} {
			names = append(names, "/Applications/"+name+".app/Contents/MacOS/"+name)
		}
	case "windows":
		for _, folder := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			for _, program := range []string{`Google\Chrome\Application\chrome.exe`, `Microsoft\Edge\Application\msedge.exe`} {
				names = append(names, filepath.Join(b.Getenv(folder), program))
			}
		}
	}
	return names
}

// Print returns a page of HTML as pdf, or as png, a picture of its first screen. Its files are in
// a folder of their own in dir until then: some browsers may not read the folder for temporary
// files. It takes at most two minutes. An error has the kind not_found
// without a browser, interrupted if ctx ended, and store otherwise.
func (b Browser) Print(ctx context.Context, dir string, page []byte, format string) (printed []byte, err error) {
	limited, cancel := context.WithTimeout(ctx, printTime)
	defer cancel()
	folder, err := os.MkdirTemp(dir, "soku-page-")
	if err == nil {
		made := folder
		defer func() { err = errors.Join(err, remove(made)) }()
		folder, err = filepath.Abs(folder)
	}
	html, out := filepath.Join(folder, "page.html"), filepath.Join(folder, "page."+format)
	if err == nil {
		err = os.WriteFile(html, page, 0o600)
	}
	if err != nil {
		return nil, measure.Fail(measure.KindStore, "cli.report.write", measure.Figures{"file": dir, "cause": err})
	}
	args := append(b.flags(format, out), "--user-data-dir="+filepath.Join(folder, "profile"), fileURL(html))
	for _, name := range b.Programs() {
		cmd := b.Command(limited, name, args...)
		cmd.WaitDelay = printGrace
		said, err := cmd.CombinedOutput()
		switch {
		case ctx.Err() != nil:
			return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
		case errors.Is(err, exec.ErrWaitDelay): // the browser ended well, a process of its own not yet
			err = nil
		case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
			continue
		}
		printed, readErr := read(out)
		if err = errors.Join(err, readErr); err != nil || len(printed) == 0 || len(printed) > mostPrintedBytes {
			lines := strings.Split(strings.TrimSpace(string(said)), "\n")
			return nil, measure.Fail(measure.KindStore, "cli.report.browser", measure.Figures{"browser": name, "format": format, "cause": err, "last_line": lines[len(lines)-1]})
		}
		return printed, nil
	}
	return nil, measure.Fail(measure.KindNotFound, "cli.report.no_browser", measure.Figures{"format": format, "variable": Variable})
}

// flags are those by which a browser writes a page to a file and ends.
func (b Browser) flags(format, out string) []string {
	flags := []string{"--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--disable-extensions", "--hide-scrollbars"}
	if b.Root {
		flags = append(flags, "--no-sandbox") // root can have none; the page is ours, without a script
	}
	if format == "png" {
		return append(flags, "--screenshot="+out, "--window-size="+pictureSize, "--force-device-scale-factor="+pictureScale)
	}
	return append(flags, "--print-to-pdf="+out, "--no-pdf-header-footer", "--print-to-pdf-no-header")
}

// remove deletes a folder into which processes of the browser that end may still write: nothing tells when
// they have.
func remove(folder string) error {
	err := os.RemoveAll(folder)
	for wait := 10 * time.Millisecond; err != nil && wait < printGrace; wait *= 2 {
		time.Sleep(wait)
		err = os.RemoveAll(folder)
	}
	if err != nil {
		return measure.Fail(measure.KindStore, "cli.report.left_folder", measure.Figures{"folder": folder, "cause": err})
	}
	return nil
}

// read reads what a browser wrote.
func read(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostPrintedBytes+1))
}

// fileURL is the address of a file by its absolute path.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Open opens a file as a person would by a double click. It does not wait for the browser. An error has
// the kind not_found.
func (b Browser) Open(ctx context.Context, file string) error {
	name, args := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	if own := b.Getenv(Variable); own != "" {
		name, args = own, []string{file}
	}
	cmd := b.Command(context.WithoutCancel(ctx), name, args...)
	if err := cmd.Start(); err != nil {
		return measure.Fail(measure.KindNotFound, "cli.report.open", measure.Figures{"program": name, "file": file, "cause": err})
	}
	return cmd.Process.Release()
}
