package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"soku/internal/measure"
)

// Serve is the child's side of [Schema]: it reads a spec from in, runs the trial at
// place, writes progress and the result to out, and returns when in or ctx has ended. The
// end of in before the result ends the trial. An error has kind usage if the spec does not
// parse and kind broken if out cannot be written.
func Serve(ctx context.Context, in io.Reader, out io.Writer, place Place) error {
	orders := bufio.NewReader(in)
	line, err := readLine(orders, maxSpec)
	var spec Spec
	if err == nil {
		err = json.Unmarshal(line, &spec)
	}
	switch {
	case err != nil:
		return measure.Fail(measure.KindUsage, "agent.spec.syntax", measure.Figures{"cause": err}).WithHintCode("measure_by_hand", nil)
	case spec.Schema != Schema:
		return measure.Fail(measure.KindUsage, "agent.spec.schema", measure.Figures{"schema": spec.Schema, "known": Schema}).WithHintCode("measure_by_hand", nil)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &child{out: out, cancel: cancel, start: make(chan struct{}), ended: make(chan struct{})}
	go c.obey(orders)
	h := Hooks{Progress: func(p measure.Progress) { c.write(report{Progress: &p}) }}
	if spec.AwaitStart {
		h.Ready = c.awaitStart
		h.Started = func(at time.Time, _ time.Duration) {
			c.write(report{Started: true, StartDelayNs: at.Sub(c.ordered).Nanoseconds(), StartedUnixNs: at.UnixNano()})
		}
	}
	if spec.Acknowledge {
		c.write(report{Accepted: true})
	}
	c.write(report{Result: place.Run(ctx, spec, h)})
	if c.broken == nil {
		select {
		case <-c.ended: // the caller closes it after reading the result
		case <-ctx.Done(): // there is no reader any more
		}
	}
	return c.broken
}

// child is the side of a trial that runs it.
type child struct {
	cancel context.CancelCauseFunc // ends the trial
	start  chan struct{}           // closed by the order to start
	ended  chan struct{}           // closed when the input has ended

	ordered time.Time // when the order to start was read; valid once start is closed
	at      time.Time // the instant that it names, or zero; valid as ordered

	mu     sync.Mutex
	out    io.Writer
	broken error // the first failure to write
}

// obey reads orders until the input ends.
func (c *child) obey(orders *bufio.Reader) {
	defer close(c.ended)
	started := false
	for {
		line, err := readLine(orders, maxOrder)
		var o order
		switch {
		case errors.Is(err, errTooLong): // no order, or one that a later version gives
		case err != nil:
			c.cancel(measure.Fail(measure.KindInterrupted, "agent.campaign_gone", nil))
			return
		case json.Unmarshal(line, &o) == nil && o.Start && !started:
			started, c.ordered = true, time.Now()
			if o.AtUnixNs != 0 {
				c.at = c.ordered.Add(time.Unix(0, o.AtUnixNs).Sub(c.ordered.Round(0)))
			}
			close(c.start)
		}
	}
}

func (c *child) awaitStart(ctx context.Context, _ time.Duration) (time.Time, error) {
	c.write(report{Ready: true})
	select {
	case <-c.start:
		return c.at, nil
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}

func (c *child) write(r report) {
	b, err := json.Marshal(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		_, err = c.out.Write(append(b, '\n'))
	}
	if err != nil && c.broken == nil {
		c.broken = measure.Fail(measure.KindBroken, "agent.report", measure.Figures{"cause": err})
		c.cancel(c.broken)
	}
}
