package agent

import (
	"bufio"
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/measure"
)

// The order to start takes 40 ms to the child, which starts 25 ms after it has the order, and
// its report takes 40 ms back.
func TestTheStartOfAChildIsMeasuredWithoutTheRoundTrip(t *testing.T) {
	const way, delay = 40 * time.Millisecond, 25 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		spec, orders := io.Pipe()
		sent, stdin := io.Pipe()
		go func() { // the way to the child
			_, _ = io.WriteString(orders, `{"schema":"soku.trial/1","test":"tcp","await_start":true}`+"\n")
			lines := bufio.NewReader(sent)
			line, _ := lines.ReadString('\n')
			time.Sleep(way)
			_, _ = io.WriteString(orders, line)
		}()
		ctx, cancel := context.WithCancelCause(t.Context())
		var ordered, at time.Time
		var uncertainty time.Duration
		hooks := Hooks{
			Ready:   func(context.Context, time.Duration) (time.Time, error) { ordered = time.Now(); return time.Time{}, nil },
			Started: func(began time.Time, within time.Duration) { at, uncertainty = began, within },
		}
		reader := &reportReader{
			barrier: newBarrier(ctx, cancel, hooks, nil, stdin, Spec{}), hooks: hooks, began: time.Now(), limit: maxReport,
			done: func() { _ = orders.Close() }, within: func(time.Duration) {},
		}
		late := writerFunc(func(p []byte) (int, error) { time.Sleep(way); return reader.Write(p) }) // the way back
		var began time.Time
		if err := Serve(ctx, spec, late, placeFunc(func(ctx context.Context, s Spec, h Hooks) *measure.Result {
			if _, err := h.Ready(ctx, 0); err != nil {
				t.Error(err)
			}
			time.Sleep(delay)
			began = time.Now()
			h.Started(began, 0)
			return &measure.Result{Schema: measure.Schema, ID: "x"}
		})); err != nil {
			t.Fatal(err)
		}
		if err := reader.barrier.leave(ctx); err != nil || reader.result == nil {
			t.Fatal(err, reader.result)
		}
		if !at.Equal(began) || began.Sub(ordered) != way+delay || uncertainty != way {
			t.Errorf("it started %s after the order, and was reported as %s ± %s", began.Sub(ordered), at.Sub(ordered), uncertainty)
		}
	})
}

// An older child reports no delay, and a child is not trusted to report a true one.
func TestTheStartOfAChildIsBetweenTheOrderAndItsReport(t *testing.T) {
	ordered := time.Now()
	const passed = 80 * time.Millisecond
	for delay, want := range map[time.Duration]time.Duration{0: passed / 2, -time.Hour: passed / 2, time.Hour: passed} {
		at, uncertainty := Start{Ordered: ordered, Reported: ordered.Add(passed), Delay: delay}.At()
		if at.Sub(ordered) != want || at.Add(-uncertainty).Before(ordered) || at.Add(uncertainty).After(ordered.Add(passed)) {
			t.Errorf("delay %s: %s ± %s", delay, at.Sub(ordered), uncertainty)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type placeFunc func(context.Context, Spec, Hooks) *measure.Result

func (f placeFunc) Run(ctx context.Context, s Spec, h Hooks) *measure.Result { return f(ctx, s, h) }
