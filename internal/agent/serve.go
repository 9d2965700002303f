package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"soku/internal/measure"
)

// Serve is the child's side of [Schema]: it reads a spec from in, runs the trial at
// place, writes progress and the result to out, and returns when in has ended. The
// end of in before the result ends the trial. Errors are of kind usage for a spec
// that does not parse and broken when out cannot be written.
func Serve(ctx context.Context, in io.Reader, out io.Writer, place Place) error {
	orders := bufio.NewReader(in)
	line, err := readLine(orders, maxSpec)
	var spec Spec
	if err == nil {
		err = json.Unmarshal(line, &spec)
	}
	if err == nil && spec.Schema != Schema {
		err = fmt.Errorf("schema %q is not %s", spec.Schema, Schema)
	}
	if err != nil {
		return measure.Errorf(measure.KindUsage, "read the trial to run from the input: %v", err).
			WithHint("this command is for soku run; measure by hand with soku tcp HOST")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &child{out: out, cancel: cancel, start: make(chan struct{}), ended: make(chan struct{})}
	go c.obey(orders)
	h := Hooks{Progress: func(p measure.Progress) { c.write(report{Progress: &p}) }}
	if spec.AwaitStart {
		h.Ready = c.awaitStart
		h.Started = func(time.Time) { c.write(report{Started: true}) }
	}
	c.write(report{Result: place.Run(ctx, spec, h)})
	if c.broken == nil && ctx.Err() == nil {
		<-c.ended // whoever asked closes it on reading the result
	}
	return c.broken
}

// child is the side of a trial that runs it.
type child struct {
	cancel context.CancelCauseFunc // ends the trial
	start  chan struct{}           // closed by the order to start
	ended  chan struct{}           // closed when the input has ended

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
			c.cancel(measure.Errorf(measure.KindInterrupted, "the campaign that asked for the trial has gone"))
			return
		case json.Unmarshal(line, &o) == nil && o.Start && !started:
			started = true
			close(c.start)
		}
	}
}

func (c *child) awaitStart(ctx context.Context) error {
	c.write(report{Ready: true})
	select {
	case <-c.start:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
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
		c.broken = measure.Errorf(measure.KindBroken, "report the trial to the campaign that asked for it: %w", err)
		c.cancel(c.broken)
	}
}
