package daemon

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// usage is how many bytes the trials of a day moved, for the limit of bytes a day. It is in the
// folder, so that a restart does not begin the day again. It is safe for concurrent use.
type usage struct {
	limit int64 // 0: none, and nothing is counted
	state *state
	now   func() time.Time

	mu    sync.Mutex
	day   dayUsage
	saved time.Time
}

type dayUsage struct {
	Day   string `json:"day"` // UTC, as in 2026-01-31
	Bytes int64  `json:"bytes"`
}

// saveEvery is how often the count of a running trial is written.
const saveEvery = 5 * time.Second

// openUsage reads the count of the day, if there is one. A count that cannot be read is an error: without it
// the limit would not hold.
func openUsage(s *state, limit measure.Size, now func() time.Time) (*usage, error) {
	u := &usage{limit: int64(limit), state: s, now: now}
	if u.limit <= 0 {
		return u, nil
	}
	b, err := readSmall(filepath.Join(s.dir, usageName))
	if errors.Is(err, fs.ErrNotExist) {
		return u, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &u.day)
	}
	if err != nil {
		return nil, stateFailure(s.dir, err)
	}
	return u, nil
}

// add counts bytes, and returns an error of kind refused when the day has no more.
func (u *usage) add(bytes int64) error {
	if u.limit <= 0 {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.turn()
	u.day.Bytes += max(bytes, 0)
	if u.now().Sub(u.saved) >= saveEvery {
		u.save()
	}
	return u.exhausted(0)
}

// admit refuses bytes that the day does not have.
func (u *usage) admit(bytes int64) error {
	if u.limit <= 0 {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.turn()
	return u.exhausted(bytes)
}

// flush writes the count.
func (u *usage) flush() {
	if u.limit <= 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.save()
}

func (u *usage) turn() {
	if day := u.now().UTC().Format(time.DateOnly); day != u.day.Day {
		u.day = dayUsage{Day: day}
	}
}

func (u *usage) exhausted(more int64) error {
	if u.day.Bytes < u.limit && u.day.Bytes+more <= u.limit {
		return nil
	}
	return measure.Fail(measure.KindRefused, "daemon.policy.bytes", measure.Figures{"used": u.day.Bytes, "more": more, "limit": u.limit})
}

// save writes the count; one that cannot be written is kept in memory.
func (u *usage) save() {
	u.saved = u.now()
	_ = u.state.write(usageName, u.day)
}

// counter counts what a running trial reports: both ends may report one direction.
type counter struct {
	message int64 // payload bytes of a request and of its reply; 0: the reports say how many bytes there were
	bytes   map[measure.Direction]map[measure.Role]int64
}

// newCounter makes the counter of a trial. The reports of a test that exchanges messages have no bytes.
func newCounter(s agent.Spec) counter {
	c := counter{bytes: map[measure.Direction]map[measure.Role]int64{}}
	if !option.SpecOf(s.Test).Has("rate") {
		c.message = int64(s.Options.Size)
	}
	return c
}

// add counts a live interval, and returns by how much the sum grew.
func (c counter) add(p measure.Progress) int64 {
	before := c.sum()
	if c.bytes[p.Direction] == nil {
		c.bytes[p.Direction] = map[measure.Role]int64{}
	}
	c.bytes[p.Direction][p.Role] += p.Bytes + 2*c.message*(p.Packets+p.Lost)
	return c.sum() - before
}

// sum is what both directions together have moved.
func (c counter) sum() (bytes int64) {
	for _, roles := range c.bytes {
		most := int64(0)
		for _, n := range roles {
			most = max(most, n)
		}
		bytes += most
	}
	return bytes
}

// moved is how many bytes the result says that this end sent and received.
func moved(r *measure.Result) (bytes int64) {
	for _, f := range r.Flows {
		for _, s := range f.Streams {
			bytes += max(s.SentBytes, s.ReceivedBytes)
		}
	}
	if r.Copy != nil {
		for _, s := range r.Copy.Stages {
			for _, w := range []*measure.CopyWork{s.Source, s.Sink} {
				if w != nil {
					bytes += w.NetworkBytes
				}
			}
		}
	}
	if r.Latency != nil {
		bytes += 2 * r.Latency.Sent * int64(r.Options.Size)
	}
	return bytes
}
