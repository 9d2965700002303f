// Package requests holds what every loop of the latency test agrees on, whichever way its
// messages take into the kernel: the format of a message ([Header]), the schedule of an
// open loop, and what became of each request ([Counts], with the parts of its round trip
// and its one-way delays). It knows no sockets and starts no goroutine but that of the
// [roundtrip.Recorder], which the caller starts.
package requests

import (
	"math"
	"sync/atomic"
	"time"

	"soku/internal/engine/latency/roundtrip"
	"soku/internal/measure"
	"soku/internal/sock"
)

// Counts are the bounds of one run and the counts of its requests and replies. Each group
// of fields belongs to the goroutine it names. Times without a comment are ns since the
// start of Clock.
type Counts struct {
	// Set before the run.
	Size             int
	Stream           bool // messages go over a stream, not as datagrams
	OneWay, FarTimes bool // options of the same names
	Clock            Clock
	Omit, End        int64   // End is 0 if Count ends the trial
	Count            int64   // 0 if End does
	Timeout          int64   // ns
	Gap              float64 // mean time between two requests of an open loop, ns; 0 for a closed loop
	Token            uint64
	Rec              *roundtrip.Recorder
	RTTs             []*measure.Histogram // one for each flow, or nil if there is only one flow
	Turn             int                  // index of the flow whose turn it is
	arrivals         arrivals

	// The sender's.
	Sent, LateSends   int64
	lastDue, lastSent int64 // since the measured part began; of the last request of a schedule

	// The receiver's.
	Received, Lost, Duplicated int64
	Splits                     *Splits // nil if round trips are not split
	Refused                    bool    // a datagram came back as undeliverable since the last reply
	ways                       oneWay
}

// Clock counts ns since its start on the monotonic clock, without allocating.
type Clock struct {
	Start time.Time
	Held  *atomic.Int64 // ns for which it was stopped, or nil if it never is
}

// Now returns the ns since Start.
func (c Clock) Now() int64 {
	ns := int64(sock.Since(c.Start))
	if c.Held != nil {
		ns -= c.Held.Load()
	}
	return ns
}

// Schedule makes the run an open loop: rate requests a second by the named process.
func (c *Counts) Schedule(rate float64, process string, seed int64) {
	c.Gap = 1e9 / rate
	c.arrivals = newArrivals(process, seed, c.Gap)
}

// NextDue returns when the next request of an open loop is due.
func (c *Counts) NextDue() int64 { return c.arrivals.next() }

// MostOutstanding returns how many requests can wait concurrently: those of one timeout,
// and a quarter more for a sender that catches up.
func (c *Counts) MostOutstanding() int {
	n := 1.25*float64(c.Timeout)/c.Gap + 1024
	return int(min(n, roundtrip.MaxWindow))
}

// Over reports whether no request may be sent at atNs.
func (c *Counts) Over(atNs int64) bool {
	return c.Count > 0 && c.Sent >= c.Count || c.End > 0 && atNs >= c.End
}

// Silent returns an error if the test has been over for longer than the timeout. A loop
// calls it at each tick without a reply.
func (c *Counts) Silent() error {
	if c.End > 0 && c.Clock.Now() > c.End+c.Timeout {
		return ErrSilent
	}
	return nil
}

// Begin counts a request that is sent at atNs, unless it was counted before.
func (c *Counts) Begin(atNs int64, before bool) {
	if atNs >= c.Omit && !before {
		c.Sent++
	}
}

// Leave counts a request that was due at atNs and is sent at nowNs.
func (c *Counts) Leave(atNs, nowNs int64) {
	c.Begin(atNs, false)
	if atNs >= c.Omit {
		c.arrivals.left(atNs, nowNs)
		c.lastDue, c.lastSent = atNs-c.Omit, nowNs-c.Omit
		if float64(nowNs-atNs) > c.Gap {
			c.LateSends++
		}
	}
}

// RanOut reports whether the test ended while the sender was late: requests that were due
// by then count as late.
func (c *Counts) RanOut(atNs, nowNs int64) bool {
	if c.End == 0 || nowNs < c.End {
		return false
	}
	c.LateSends += int64(math.Ceil((float64(c.End) - float64(atNs)) / c.Gap))
	return true
}

// Reply counts the reply to a request that counts from sentNs, which reached this host at
// cameNs and the program at readNs.
func (c *Counts) Reply(sentNs, cameNs, readNs int64) {
	c.Refused = false
	if sentNs < c.Omit {
		return
	}
	c.Received++
	c.Rec.ReplyRead(sentNs-c.Omit, cameNs-c.Omit, readNs-c.Omit)
	if c.RTTs != nil {
		c.RTTs[c.Turn].Record(cameNs - sentNs)
	}
}

// Far stores the times that the echo wrote into a reply, or ignores them if they are 0.
func (c *Counts) Far(sentNs, cameNs, inNs, outNs int64) {
	if sentNs >= c.Omit && inNs != 0 && outNs >= inNs {
		c.ways.add(fourTimes{sentNs, inNs, outNs, cameNs})
	}
}

// Miss counts a request from sentNs as lost.
func (c *Counts) Miss(sentNs, nowNs int64) {
	if sentNs >= c.Omit {
		c.Lost++
		c.Rec.Lost(nowNs - c.Omit)
	}
}

// Result returns all that was counted. kept is what the recorder returned when it stopped.
func (c *Counts) Result(kept roundtrip.Recorded) *measure.Latency {
	l := &measure.Latency{
		Histogram: kept.Histogram, Rows: kept.Rows, RowsCut: kept.RowsCut, Series: kept.Series,
		Sent: c.Sent, Received: c.Received, Lost: c.Lost, Duplicated: c.Duplicated, LateSends: c.LateSends,
		LastDueNs: c.lastDue, LastSentNs: c.lastSent,
		Application: kept.Application, OneWay: c.ways.result(), Split: c.Splits.Result(), Arrivals: c.arrivals.result(),
	}
	if l.Application == nil {
		l.Application = l.Histogram // they are the same without kernel time stamps
	}
	return l
}

// Failure is why a test ended early, as the code of its error.
type Failure string

// Error returns the code.
func (f Failure) Error() string { return string(f) }

// Failures of the far end. Their messages have the figures of latency.broken without its
// cause.
const (
	ErrClosed    Failure = "latency.closed"
	ErrSilent    Failure = "latency.no_more_replies"
	ErrGone      Failure = "latency.port_closed"
	ErrDisorder  Failure = "latency.wrong_reply"
	ErrUninvited Failure = "latency.unrequested_reply"
)
