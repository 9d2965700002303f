package ntttcp

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/printable"
)

// Env is what a test needs from the operating system, other than the network.
type Env struct {
	Stdout   io.Writer
	Terminal bool // whether Stdout is a terminal
	Now      func() time.Time
	// WriteFile replaces a file; Append appends to it.
	WriteFile func(name string, data []byte, perm os.FileMode) error
	TryWrite  func(name string) error // fails as WriteFile would, and leaves no file
	Append    func(name string) (io.WriteCloser, error)
	Version   string // of this program
	Hostname  string
}

// console prints lines as ntttcp does, and writes them to a file if requested. It is safe
// for concurrent use.
type console struct {
	env     Env
	verbose bool

	mu   sync.Mutex
	file io.WriteCloser
}

// openConsole truncates the file.
func openConsole(env Env, o *Options) (*console, error) {
	c := &console{env: env, verbose: o.Verbose}
	if o.ConsoleFile == "" {
		return c, nil
	}
	if err := env.WriteFile(o.ConsoleFile, nil, 0o644); err != nil {
		return nil, fail("ntttcp.option.console_file", measure.Figures{"cause": err})
	}
	var err error
	if c.file, err = env.Append(o.ConsoleFile); err != nil {
		return nil, fail("ntttcp.option.console_file", measure.Figures{"cause": err})
	}
	return c, nil
}

func (c *console) close() {
	if c.file != nil {
		_ = c.file.Close()
	}
}

func (c *console) info(format string, args ...any)  { c.line("INFO", format, args...) }
func (c *console) error(format string, args ...any) { c.line("ERR ", format, args...) }
func (c *console) debug(format string, args ...any) {
	if c.verbose {
		c.line("DBG ", format, args...)
	}
}

func (c *console) line(level, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.env.Now().Format("15:04:05") + " " + level + ": " + oneLine(fmt.Sprintf(format, args...)) + "\n"
	_, _ = io.WriteString(c.env.Stdout, text)
	if c.file != nil {
		_, _ = io.WriteString(c.file, text)
	}
}

// oneLine keeps the tabs of ntttcp's columns.
func oneLine(s string) string { return strings.ReplaceAll(printable.Text(s), "\n", " ") }

// plain prints a line without a time stamp, and not to the file.
func (c *console) plain(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.env.Stdout, format, args...)
}

const rule = "---------------------------------------------------------\n"

// now prints the rate of the last half second, on a terminal over the previous one.
func (c *console) now(bytes int64, d time.Duration) {
	text := "Real-time throughput: " + throughput(bytes, d.Seconds())
	if !c.env.Terminal {
		c.plain("%s\n", text)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	printable.Draw(c.env.Stdout, printable.Sequence("\x1b[2K"), text, printable.Sequence("\r"))
}

// throughput is a rate as ntttcp prints it.
func throughput(bytes int64, seconds float64) string {
	if seconds <= 0 {
		return "0.00bps"
	}
	v := float64(bytes) * 8 / seconds
	units := [...]string{"bps", "Kbps", "Mbps", "Gbps"}
	i := 0
	for v > 1000 && i < len(units)-1 {
		v /= 1000
		i++
	}
	return fmt.Sprintf("%.2f%s", v, units[i])
}
