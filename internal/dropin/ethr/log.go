package ethr

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// The lines of the log file. The order of their members is Ethr's.
type (
	logMessage struct{ Time, Title, Type, Message string }

	logResult struct {
		Time, Title, Type, RemoteAddr, Protocol                               string
		BitsPerSecond, ConnectionsPerSecond, PacketsPerSecond, AverageLatency string
	}

	logLatency struct {
		Time, Title, Type, RemoteAddr, Protocol        string
		Avg, Min, P50, P90, P95, P99, P999, P9999, Max string
	}
)

// output is the screen and the log file. Its methods may be called from any goroutine.
type output struct {
	out      io.Writer
	now      func() time.Time
	title    string
	decimals int
	verbose  bool  // print debug lines
	view     *view // has the terminal; nil: lines go to out

	mu   sync.Mutex
	file io.WriteCloser // nil: no log
	err  error          // of writing the log
}

// say prints a line and writes it to the log.
func (o *output) say(format string, args ...any) { o.message("INFO", fmt.Sprintf(format, args...)) }

// sayError prints an error.
func (o *output) sayError(format string, args ...any) {
	o.message("ERROR", fmt.Sprintf(format, args...))
}

// debug prints a line of -debug.
func (o *output) debug(format string, args ...any) {
	if o.verbose {
		o.message("DEBUG", fmt.Sprintf(format, args...))
	}
}

func (o *output) message(kind, text string) {
	if o.view != nil {
		o.view.add(kind, text)
	} else {
		o.print(text)
	}
	o.log(logMessage{o.stamp(), o.title, kind, text})
}

// print writes a line that is not for the log, unless the view has the terminal.
func (o *output) print(text string) {
	if o.view != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintln(o.out, text)
}

func (o *output) stamp() string { return o.now().UTC().Format(time.RFC3339) }

func (o *output) log(v any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return
	}
	b, err := json.Marshal(v)
	if err == nil {
		_, err = o.file.Write(append(b, '\n'))
	}
	if err != nil && o.err == nil {
		o.err = err
	}
}

// result writes a second of a test to the log; unknown members are empty.
func (o *output) result(remote, protocol, bits, conns, packets, latency string) {
	o.log(logResult{o.stamp(), o.title, "TestResult", remote, protocol, bits, conns, packets, latency})
}

func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	o.file = nil
	if o.err != nil {
		err = o.err
	}
	return err
}
