package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"soku/internal/measure"
	"soku/internal/printable"
)

// Schema is the identity of what passes between a process that wants a trial and
// the child that runs it, JSON in lines.
//
// To the child: one line with a [Spec]; and, if that has the member await_start,
// the line {"start":true,"at_unix_ns":t} when the trial may start: at t ns since 1970 on the child's clock, immediately without
// that member. The child's input stays open
// for as long as the trial is wanted: when it is closed, also by the death of the process that
// holds it, the trial ends.
//
// From the child: {"accepted":true} when it has read the spec, if that has the member
// acknowledge; then lines with the member progress, a live interval each; before them, if the spec has the member await_start,
// {"ready":true} when the trial has only to start and {"started":true,"start_delay_ns":n,"started_unix_ns":t}
// when it has, n ns after it read the order to start and at t on the child's clock; and, as the last, a line with the
// member result.
//
// Lines and members that an end does not know are ignored; a child of a version
// that does not know await_start does not wait.
const Schema = "soku.trial/1"

// Bounds of a line, in bytes.
const (
	maxSpec   = 1 << 20
	maxOrder  = 4 << 10   // to the child, after the spec
	maxReport = 256 << 20 // from the child; a result of a day with 1024 streams is far below
	maxStray  = 200       // kept of a line from the child that is no report
	maxText   = 4 << 10   // characters kept of a name or sentence in a report

	bytesPerValue = 64 // of a report: more than the mean of every test's results
)

// Bounds of lines that are no reports, such as greetings, from one report to the next.
const (
	maxStrayLines = 256
	maxStrayBytes = 64 << 10
)

// Bounds of a trial's time. A child that exceeds them is killed.
const (
	longestMute = 10 * time.Minute // from the start of the child to its first report, on top of the time of the trial
	longestWait = 24 * time.Hour   // from there to the start of the trial: other clients may be measured before
	unknownTime = time.Hour        // of a trial whose time is not known, for the first report
	overtime    = 2 * time.Minute  // of a test with a server and a duration: on top of it; package trial ends it after one minute
	longestExit = 10 * time.Second // from the result to the end of the child
)

var (
	errTooLong  = errors.New("the line is too long")
	errTooMany  = errors.New("the line has more values than a report of this trial can have")
	errNoReport = errors.New("it goes on writing lines that are no reports of a trial")
)

// order is one line to the child, after the spec.
type order struct {
	Start    bool  `json:"start"`
	AtUnixNs int64 `json:"at_unix_ns,omitempty"` // on the child's clock; 0: now
}

// report is one line from the child.
type report struct {
	Accepted bool              `json:"accepted,omitempty"`
	Ready    bool              `json:"ready,omitempty"`
	Started  bool              `json:"started,omitempty"`
	Progress *measure.Progress `json:"progress,omitempty"`
	Result   *measure.Result   `json:"result,omitempty"`

	StartDelayNs  int64 `json:"start_delay_ns,omitempty"`  // with Started; 0 from a version that does not report it
	StartedUnixNs int64 `json:"started_unix_ns,omitempty"` // as StartDelayNs
}

// readLine returns the next line with its end. One that is longer than limit is
// errTooLong, and the rest of it is the next line.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errTooLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// reportReader takes a child's output apart as it comes.
type reportReader struct {
	barrier *barrier
	hooks   Hooks
	done    func()              // called once, on the result
	within  func(time.Duration) // kills the child after this time, in place of the time of an earlier call
	limit   int                 // of a line
	options measure.Options
	longest time.Duration // of the trial from its start, or 0 if it is not known
	began   time.Time
	heard   bool // a report has come
	started bool
	result  *measure.Result
	stray   string // last line since the last report that is none, such as a greeting
	buf     bytes.Buffer

	strayLines, strayBytes int // since the last report
}

// Write keeps what it is given until a line is whole. Its error ends the child.
func (r *reportReader) Write(p []byte) (int, error) {
	if err := r.take(p); err != nil {
		r.barrier.cancel(measure.Fail(measure.KindBroken, "agent.process.no_result", measure.Figures{"host": r.barrier.spec.Client.String(), "why": err.Error()}))
		return 0, err
	}
	return len(p), nil
}

func (r *reportReader) take(rest []byte) error {
	most := measure.MostValues(r.options, time.Since(r.began))
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		r.buf.Write(rest[:i])
		rest = rest[i+1:]
		if err := r.line(r.buf.Bytes(), most); err != nil {
			return err
		}
		r.buf.Reset()
	}
	if r.buf.Len()+len(rest) > min(r.limit, most*bytesPerValue) {
		return errTooLong
	}
	r.buf.Write(rest)
	return nil
}

// line takes a line.
func (r *reportReader) line(b []byte, most int) error {
	if measure.JSONValues(b, 0) > most {
		return errTooMany
	}
	var l report
	if r.result != nil || json.Unmarshal(b, &l) != nil || !l.Accepted && !l.Ready && !l.Started && l.Progress == nil && l.Result == nil {
		if r.result == nil && len(bytes.TrimSpace(b)) > 0 {
			r.stray = string(b[:min(len(b), maxStray)])
		}
		r.strayLines, r.strayBytes = r.strayLines+1, r.strayBytes+len(b)
		if r.strayLines > maxStrayLines || r.strayBytes > maxStrayBytes {
			return errNoReport
		}
		return nil
	}
	printable.Strings(&l, maxText)
	r.stray, r.strayLines, r.strayBytes = "", 0, 0
	if l.Ready {
		r.barrier.arrive()
	}
	switch {
	case (l.Started || l.Progress != nil) && !r.started && r.longest > 0:
		r.started = true
		r.within(r.longest)
	case !r.heard:
		r.within(longestWait)
	}
	r.heard = true
	if l.Started && r.barrier.pass() {
		r.barrier.began(time.Duration(l.StartDelayNs), l.StartedUnixNs, time.Now())
	}
	if l.Progress != nil && r.barrier.pass() && r.hooks.Progress != nil {
		r.hooks.Progress(*l.Progress)
	}
	if l.Result != nil {
		if l.Result.Error == nil {
			r.barrier.pass()
		}
		r.result = l.Result
		r.within(longestExit)
		r.done()
	}
	return nil
}
