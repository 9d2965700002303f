package campaign

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
)

// Campaign is one campaign on disk, held by this process alone until Close. It
// is not safe for concurrent use.
type Campaign struct {
	Plan      *Plan
	Record    PlanRecord
	StartedAt time.Time

	dir      string
	lock     *os.File
	journal  *journal
	outcomes outcomes
	finished time.Time        // when the last trial with a result ended
	bytes    int64            // payload moved so far, dropped trials included
	sessions int              // runs so far
	patterns func() []Pattern // of the plan that is recorded
}

// ID is the campaign's identity and the name of its folder.
func (c *Campaign) ID() string { return c.Record.ID }

// Create begins a campaign in a new folder under dir. The seed is the plan's
// own, or the given one. Close the campaign when done.
func Create(dir string, p *Plan, seed int64, version string, now time.Time) (*Campaign, error) {
	sum := sha256.Sum256(p.Text)
	c := &Campaign{Plan: p, StartedAt: now.UTC(), outcomes: newOutcomes(), Record: PlanRecord{
		Schema: JournalSchema, ID: newID(p.Campaign, now), Name: p.Campaign, File: p.File, Text: string(p.Text),
		SHA256: hex.EncodeToString(sum[:]), Seed: seed, Trials: p.Trials(), Patterns: len(p.patterns), Version: version,
	}}
	c.dir = filepath.Join(dir, c.Record.ID)
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, storeFailure("make the folder of", c.dir, err)
	}
	if err := c.takeLock(); err != nil {
		return nil, err
	}
	var err error
	if c.journal, err = createJournal(c.dir); err == nil {
		err = c.write(Record{Kind: RecordPlan, At: c.StartedAt, Plan: &c.Record})
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Resume opens a campaign to go on with it. p is the plan as it is now; if it
// measures anything else than what the campaign began with, the error names the
// keys and has kind usage. A campaign that another process works on is refused.
func Resume(dir, id string, p *Plan) (*Campaign, error) {
	c := &Campaign{Plan: p, dir: filepath.Join(dir, id), outcomes: newOutcomes()}
	if _, err := os.Stat(c.JournalPath()); errors.Is(err, os.ErrNotExist) || !filepath.IsLocal(id) {
		return nil, measure.Errorf(measure.KindNotFound, "there is no campaign %q under %s", id, dir).WithHint("list them with: soku ls --campaigns")
	}
	if err := c.takeLock(); err != nil {
		return nil, err
	}
	if err := c.read(); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Campaign) read() (err error) {
	if c.journal, err = openJournal(c.dir, c.learn); err != nil {
		return err
	}
	if c.Record.ID == "" {
		return storeFailure("read", c.JournalPath(), measure.Errorf(measure.KindStore, "it ends before its plan").WithHint("nothing was measured: begin anew without --resume"))
	}
	recorded, err := Parse(c.Record.File, []byte(c.Record.Text))
	if err != nil {
		return err
	}
	return sameMeasurement(recorded, c.Plan)
}

// learn takes one record of the journal into account.
func (c *Campaign) learn(rec Record) error {
	switch rec.Kind {
	case RecordPlan:
		c.Record, c.StartedAt = *rec.Plan, rec.At
		c.patterns = sync.OnceValue(c.recordedPatterns)
	case RecordStarted:
		c.sessions++
	case RecordTrialFinished:
		key := *rec.Trial
		if key.Levels == nil && c.patterns != nil {
			key = key.resolve(c.patterns())
		}
		c.outcomes.set(key, outcome{rec.Result.ID, rec.Result.Error != nil})
		c.finished = rec.At
	}
	c.bytes += rec.Bytes
	return nil
}

// recordedPatterns are those of the plan that the campaign began with; none if
// this version cannot read it.
func (c *Campaign) recordedPatterns() []Pattern {
	p, err := Parse(c.Record.File, []byte(c.Record.Text))
	if err != nil {
		return nil
	}
	return p.patterns
}

// takeLock holds the campaign for this process. The process' number in the file
// is for people; what counts is the lock.
func (c *Campaign) takeLock() error {
	path := filepath.Join(c.dir, "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return storeFailure("lock", c.JournalPath(), err)
	}
	ok, err := lockFile(f)
	if !ok {
		holder := make([]byte, 32)
		n, _ := f.ReadAt(holder, 0)
		_ = f.Close()
		if err != nil {
			return storeFailure("lock", c.JournalPath(), err)
		}
		return measure.Errorf(measure.KindRefused, "another process (%s) works on campaign %s", strings.TrimSpace(string(holder[:n])), filepath.Base(c.dir)).
			WithHint("wait for it to end, or stop it")
	}
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte("pid "+strconv.Itoa(os.Getpid())+"\n"), 0)
	c.lock = f
	return nil
}

// Close gives the campaign free. The journal needs no more writing.
func (c *Campaign) Close() error {
	var err error
	if c.journal != nil {
		err = c.journal.f.Close()
	}
	if c.lock != nil {
		err = errors.Join(err, c.lock.Close())
	}
	c.journal, c.lock = nil, nil
	return err
}

// JournalPath is the file that holds the campaign.
func (c *Campaign) JournalPath() string { return filepath.Join(c.dir, journalName) }

// Results reads the journal again and gives every result to visit, in the order
// in which they were measured; those that were replaced are among them.
func (c *Campaign) Results(visit func(*measure.Result) error) error {
	_, err := ReadJournal(io.NewSectionReader(c.journal.f, 0, c.journal.size), func(rec Record) error {
		if rec.Kind == RecordTrialFinished {
			return visit(rec.Result)
		}
		return nil
	})
	return err
}

// Done and Failed count the trials that have a result, and those whose newest
// result is an error.
func (c *Campaign) Done() (done, failed int) {
	return len(c.outcomes.of), c.outcomes.failed
}

// Entry is what the store keeps of the campaign.
func (c *Campaign) Entry() store.Campaign {
	done, failed := c.Done()
	e := store.Campaign{
		ID: c.Record.ID, Name: c.Record.Name, Title: c.Plan.Title, StartedAt: c.StartedAt, Plan: c.Record.Text,
		Seed: c.Record.Seed, Patterns: c.Record.Patterns, Trials: c.Record.Trials, Done: done, Failed: failed,
	}
	if done == c.Record.Trials {
		e.FinishedAt = c.finished
	}
	return e
}

// write appends a record to the journal and takes it into account.
func (c *Campaign) write(rec Record) error {
	if err := c.journal.append(rec); err != nil {
		return err
	}
	return c.learn(rec)
}

// Info is a campaign as its journal tells without being opened for work.
type Info struct {
	Record       PlanRecord
	Done, Failed int
}

// Open reports whether trials are left.
func (i Info) Open() bool { return i.Done < i.Record.Trials }

// Find lists the campaigns under dir with that name, the newest first. Folders
// whose journal does not begin with a plan are passed over.
func Find(dir, name string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storeFailure("list", dir, err)
	}
	var out []Info
	for _, e := range slices.Backward(entries) { // names begin with the time
		if !strings.Contains(e.Name(), name) {
			continue
		}
		c := &Campaign{outcomes: newOutcomes()}
		f, err := os.Open(filepath.Join(dir, e.Name(), journalName))
		if err != nil {
			continue
		}
		_, err = ReadJournal(f, c.learn)
		_ = f.Close()
		if err != nil && c.Record.ID == "" || c.Record.Name != name {
			continue
		}
		info := Info{Record: c.Record}
		info.Done, info.Failed = c.Done()
		out = append(out, info)
	}
	return out, nil
}

// FindID returns the full identity of the campaign under dir that id means: an
// identity, the beginning of one, or "last" for the newest. Errors are of kind
// not_found, or usage if several begin like that.
func FindID(dir, id string) (string, error) {
	missing := measure.Errorf(measure.KindNotFound, "there is no campaign %q under %s", id, dir).WithHint("list them with: soku ls --campaigns")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", storeFailure("list", dir, err)
	}
	var found []string
	for _, e := range entries {
		if e.Name() == id {
			return id, nil
		}
		if strings.HasPrefix(e.Name(), id) && len(id) >= store.MinPrefix || id == store.Last {
			found = append(found, e.Name())
		}
	}
	switch {
	case len(found) == 0:
		return "", missing
	case id == store.Last:
		return found[len(found)-1], nil // names begin with the time
	case len(found) > 1:
		return "", measure.Errorf(measure.KindUsage, "%q fits several: %s", id, strings.Join(found, ", ")).WithHint("give more of its characters")
	}
	return found[0], nil
}

// newID begins with the time, so that folders sort, and ends with chance, so
// that two campaigns begun in the same second differ.
func newID(name string, now time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%s-%s-%s", now.UTC().Format("20060102-150405"), name, hex.EncodeToString(b[:]))
}

// resultID is of the form all results have: milliseconds since 1970 and chance.
func resultID(now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%012x%s", now.UnixMilli(), hex.EncodeToString(b[:]))
}
