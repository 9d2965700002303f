package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/store"
)

// Intake puts results into one campaign of a store. It is not safe for
// concurrent use.
type Intake struct {
	Campaign store.Campaign

	store    store.Store
	request  *Request
	dry      bool
	fresh    bool // the campaign is new
	known    map[string]*Taken
	ends     map[string]*Taken // of both ends, by each of their places
	single   map[string]*Taken // of one end, by its place
	patterns map[string]int    // results of each
	rounds   *rounds
	order    map[int]int // results in a round
}

// Taken is what is kept of a result in the campaign. The figures of a result that was already
// in the store are read when needed.
type Taken struct {
	store.Entry
	Levels []measure.Level
	Origin *measure.Origin
}

// Open finds the campaign of the request, or creates it. With dry nothing is written, and st
// may be nil if there is no store yet. A campaign that soku run measured is refused, of kind usage.
func Open(ctx context.Context, st store.Store, q *Request, dry bool) (*Intake, error) {
	in := &Intake{store: st, request: q, dry: dry, known: map[string]*Taken{}, ends: map[string]*Taken{}, single: map[string]*Taken{}, patterns: map[string]int{}, rounds: newRounds(), order: map[int]int{}}
	if dry && st == nil {
		in.begin()
		return in, nil
	}
	c, err := store.FindNamedCampaign(ctx, st, q.Campaign)
	if measure.KindOf(err) == measure.KindNotFound {
		in.begin()
		return in, nil
	}
	if err != nil {
		return nil, err
	}
	in.Campaign = c
	if in.Campaign.Plan != "" {
		return nil, measure.Fail(measure.KindUsage, "ingest.campaign.measured", measure.Figures{"campaign": in.Campaign.Name})
	}
	for r, err := range st.Results(ctx, store.Query{Campaign: in.Campaign.ID, OldestFirst: true}, store.Outline) {
		if err != nil {
			return nil, err
		}
		if t := in.learn(r); t != nil {
			t.Figures = nil
		}
	}
	return in, nil
}

// begin starts a new campaign.
func (in *Intake) begin() {
	q := in.request
	in.fresh = true
	in.Campaign = store.Campaign{ID: measure.NewCampaignID(q.Campaign, q.Now), Name: q.Campaign, StartedAt: q.Now.UTC()}
	if q.Mapping != nil {
		in.Campaign.Title = short(q.Mapping.Title)
	}
}

func (in *Intake) learn(r *measure.Result) *Taken {
	if r.Trial == nil {
		return nil
	}
	t := &Taken{Entry: store.EntryOf(r), Levels: r.Trial.Levels, Origin: r.Origin}
	if r.Origin != nil {
		in.known[origin(r)] = t
		if o := r.Origin.Other; o != nil {
			in.ends[place(o.SHA256, o.Record)] = t
			in.ends[place(r.Origin.SHA256, r.Origin.Record)] = t
		} else if r.Origin.End != "" {
			in.single[place(r.Origin.SHA256, r.Origin.Record)] = t
		}
	}
	in.patterns[measure.LevelsKey(r.Trial.Levels)]++
	in.rounds.learn(r)
	in.order[r.Trial.Round] = max(in.order[r.Trial.Round], r.Trial.Order)
	return t
}

// origin identifies a result by the content of its file and its position in it.
func origin(r *measure.Result) string { return originKey(r.Origin, r.Trial.Label) }

func originKey(o *measure.Origin, label string) string {
	return fmt.Sprintf("%s %d %s %s", o.SHA256, o.Record, o.Part, label)
}

// place is a record of a file with that content.
func place(sha256 string, record int) string { return fmt.Sprint(sha256, " ", record) }

// Known returns the result of the campaign that was made from the same position of a file with
// the same content, alone or joined with the other end of its run, or nil without one.
func (in *Intake) Known(r *measure.Result) *Taken {
	if known := in.known[origin(r)]; known != nil {
		return known
	}
	if known := in.ends[place(r.Origin.SHA256, r.Origin.Record)]; known != nil {
		return known
	}
	if o := r.Origin.Other; o != nil {
		return in.single[place(o.SHA256, o.Record)]
	}
	return nil
}

// Alike returns the files, with their SHA-256, of those results of the campaign that would be repeats of the given ones:
// of the same levels and label, and of other files. For nil it returns the files of all.
func (in *Intake) Alike(results []*measure.Result) map[string]string {
	wanted, own := map[string]bool{}, map[string]bool{}
	for _, r := range results {
		wanted[row(r.Trial.Levels, r.Trial.Label)], own[r.Origin.SHA256] = true, true
	}
	out := map[string]string{}
	for _, t := range in.known {
		if results != nil && (!wanted[row(t.Levels, t.Label)] || own[t.Origin.SHA256]) {
			continue
		}
		out[t.Origin.File] = t.Origin.SHA256
		if o := t.Origin.Other; o != nil {
			out[o.File] = o.SHA256
		}
	}
	return out
}

// Deeper returns an error of kind usage if a new result would be a repeat of results of the campaign whose files lie
// at another depth, where the folders that one has more may be levels of a factor.
func (in *Intake) Deeper(results []*measure.Result) error {
	seen := map[string]bool{}
	for _, r := range results {
		key := strings.Join(append(foldersOf(r.Origin.File), row(r.Trial.Levels, r.Trial.Label)), "/")
		if seen[key] || in.Known(r) != nil {
			continue
		}
		seen[key] = true
		if err := deeper(in.request.Path, slices.Sorted(maps.Keys(in.Alike([]*measure.Result{r}))), r.Origin.File); err != nil {
			return err
		}
	}
	return nil
}

// row is what results have in common that are repeats of each other.
func row(levels []measure.Level, label string) string { return measure.LevelsKey(levels) + " " + label }

// Add gives a result its round and identity and stores it. If the result is already in the
// campaign, added is false and the earlier one is returned. It fails if the store fails.
func (in *Intake) Add(ctx context.Context, r *measure.Result) (taken *Taken, added bool, err error) {
	if known := in.Known(r); known != nil {
		return known, false, in.readFigures(ctx, known)
	}
	t := r.Trial
	t.Campaign, t.Name = in.Campaign.ID, in.Campaign.Name
	in.rounds.give(r)
	t.Order = in.order[t.Round] + 1
	sum := sha256.Sum256([]byte(t.Campaign + " " + origin(r)))
	r.ID = fmt.Sprintf("%012x%s", max(r.StartedAt.UnixMilli(), 0), hex.EncodeToString(sum[:4]))
	if !in.dry {
		if err := in.store.Put(ctx, r); err != nil {
			return nil, false, err
		}
	}
	taken = in.learn(r)
	in.Campaign.Done++
	if r.Error != nil {
		in.Campaign.Failed++
	}
	return taken, true, nil
}

// Relevelled returns the result of the campaign that was made from the same position of a file, if its levels
// are others than those that r has now, or nil. A result without levels says nothing of them, and one of one end
// cannot take the place of one of both.
func (in *Intake) Relevelled(r *measure.Result) *Taken {
	known := in.Known(r)
	if known == nil || len(r.Trial.Levels) == 0 || measure.LevelsKey(known.Levels) == measure.LevelsKey(r.Trial.Levels) {
		return nil
	}
	if known.Origin.Other != nil && r.Origin.Other == nil {
		return nil
	}
	return known
}

// Replace puts a result into the campaign in place of one that [Intake.Relevelled] returned.
func (in *Intake) Replace(ctx context.Context, old *Taken, r *measure.Result) (*Taken, error) {
	if !in.dry {
		if _, err := in.store.Delete(ctx, []string{old.ID}); err != nil {
			return nil, err
		}
	}
	in.forget(old)
	taken, _, err := in.Add(ctx, r)
	return taken, err
}

// forget takes a result out of what is known of the campaign. The number of its round stays taken.
func (in *Intake) forget(t *Taken) {
	o := t.Origin
	delete(in.known, originKey(o, t.Label))
	delete(in.ends, place(o.SHA256, o.Record))
	delete(in.single, place(o.SHA256, o.Record))
	if o.Other != nil {
		delete(in.ends, place(o.Other.SHA256, o.Other.Record))
	}
	key := measure.LevelsKey(t.Levels)
	if in.patterns[key]--; in.patterns[key] <= 0 {
		delete(in.patterns, key)
	}
	in.Campaign.Done--
	if t.ErrorKind != "" {
		in.Campaign.Failed--
	}
}

// readFigures adds what the outline of a stored result does not have.
func (in *Intake) readFigures(ctx context.Context, t *Taken) error {
	if t.Figures != nil {
		return nil
	}
	page, err := in.store.List(ctx, store.Query{IDPrefix: t.ID, Campaign: t.Campaign})
	for _, e := range page.Items {
		if e.ID == t.ID {
			t.Entry = e
		}
	}
	return err
}

// Close stores the campaign. A new campaign without results is not stored.
func (in *Intake) Close(ctx context.Context) error {
	if in.dry || in.fresh && in.Campaign.Done == 0 {
		return nil
	}
	c := &in.Campaign
	c.Trials, c.Patterns, c.FinishedAt = c.Done, len(in.patterns), in.request.Now.UTC()
	return in.store.PutCampaign(ctx, *c)
}
