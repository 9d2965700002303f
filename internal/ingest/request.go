package ingest

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// maxFactors is the maximum number of factors, as in a plan.
const maxFactors = 20

// Request has the user's parameters for all files of one command.
type Request struct {
	Campaign string          // name; if empty the mapping's
	Format   string          // one of [Formats]
	Levels   []measure.Level // given for all files
	Path     *PathPattern    // nil for none
	Mapping  *Mapping        // nil for none
	Version  string          // of this program
	Now      time.Time
}

// Check checks the request for consistency and fills in values of the mapping. An error has kind
// usage or file.
func (q *Request) Check() error {
	if m := q.Mapping; m != nil {
		q.Campaign = cmp.Or(q.Campaign, m.Campaign)
		if m.Path != "" && q.Path == nil {
			p, err := ParsePathPattern(m.Path)
			if err != nil {
				return err
			}
			q.Path = p
		}
	}
	if q.Mapping != nil && q.Mapping.Round != (Cell{}) && q.Path != nil && q.Path.hasRound() {
		return measure.Fail(measure.KindUsage, "ingest.round.twice", measure.Figures{"pattern": short(q.Path.text)})
	}
	if q.Campaign == "" {
		return measure.Fail(measure.KindUsage, "ingest.campaign.none", nil)
	}
	bad := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	}
	if strings.ContainsFunc(q.Campaign, bad) || len(q.Campaign) > 100 {
		return measure.Fail(measure.KindUsage, "ingest.campaign.name", measure.Figures{"campaign": short(q.Campaign)})
	}
	if !slices.Contains(Formats(), q.Format) {
		return measure.Fail(measure.KindUsage, "ingest.format.unknown", measure.Figures{"format": short(q.Format), "formats": Formats()})
	}
	if q.Format == "csv" && (q.Mapping == nil || len(q.Mapping.Results) == 0) {
		return measure.Fail(measure.KindUsage, "ingest.format.csv", nil)
	}
	for i, l := range q.Levels {
		if l.Factor == "" || l.Value == "" {
			return measure.Fail(measure.KindUsage, "ingest.factor.form", measure.Figures{"text": short(l.Factor + "=" + l.Value)})
		}
		if slices.ContainsFunc(q.Levels[:i], func(o measure.Level) bool { return o.Factor == l.Factor }) {
			return measure.Fail(measure.KindUsage, "ingest.factor.twice", measure.Figures{"factor": short(l.Factor)})
		}
	}
	return nil
}

// Read decodes a file and gives its results their levels, label and, if the path or the
// mapping names it, round. An error has kind file and names the place.
func (q *Request) Read(s *Source) ([]*measure.Result, error) {
	var results []*measure.Result
	var err error
	table := (q.Format == "csv" || q.Format == Auto) && q.Mapping != nil && len(q.Mapping.Results) > 0
	if table {
		results, err = q.Mapping.Read(s)
	} else {
		results, err = Decode(s, q.Format)
	}
	if err != nil {
		return nil, err
	}
	var fromPath []measure.Level
	round := 0
	if q.Path != nil {
		var ok bool
		if fromPath, round, ok = q.Path.Match(s.Name); !ok {
			return nil, measure.Fail(measure.KindFile, "ingest.path.mismatch", measure.Figures{"file": s.Name, "pattern": q.Path.text})
		}
		if round > 0 && len(results) > 1 {
			return nil, s.fail(results[1].Origin.Line, "ingest.path.second", nil)
		}
	}
	for _, r := range results {
		if err := q.place(s, r, fromPath, round, table); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// place gives one result its levels and its origin.
func (q *Request) place(s *Source, r *measure.Result, fromPath []measure.Level, round int, table bool) error {
	if r.Trial == nil {
		r.Trial = &measure.Trial{Label: labelOf(r), Levels: []measure.Level{}}
	}
	sources := [][]measure.Level{fromPath, r.Trial.Levels, nil, q.Levels}
	if m := q.Mapping; m != nil && !table {
		for _, c := range m.Factors {
			if c.Value == "" {
				return m.fail("factors", "ingest.mapping.factor", measure.Figures{"factor": c.Name, "file": s.Name})
			}
			sources[2] = append(sources[2], measure.Level{Factor: c.Name, Value: c.Value})
		}
		r.Origin.Source, r.Origin.Question = short(m.Source), short(m.Question)
		if r.StartedAt.IsZero() {
			r.StartedAt, _ = m.started()
		}
		m.noteMissing(r)
	}
	levels := []measure.Level{}
	for _, l := range slices.Concat(sources...) {
		i := slices.IndexFunc(levels, func(o measure.Level) bool { return o.Factor == l.Factor })
		switch {
		case i < 0:
			levels = append(levels, measure.Level{Factor: short(l.Factor), Value: short(l.Value)})
		case levels[i].Value != l.Value:
			return measure.Fail(measure.KindFile, "ingest.factor.levels", measure.Figures{"file": s.Name, "factor": l.Factor, "level": levels[i].Value, "other": l.Value})
		}
	}
	if len(levels) > maxFactors {
		return measure.Fail(measure.KindFile, "ingest.factor.too_many", measure.Figures{"file": s.Name, "factors": len(levels), "limit": maxFactors})
	}
	t := r.Trial
	t.Levels, t.Pattern, t.Round, t.Repeat = levels, measure.JoinLevels(levels), max(t.Round, round), max(t.Repeat, 1)
	if r.StartedAt.IsZero() {
		r.StartedAt = s.ModTime
		missing(r, finding.TimeOfFile)
	}
	r.Tool = measure.Tool{Name: "soku", Version: q.Version}
	r.Origin.File, r.Origin.SHA256, r.Origin.IngestedAt = s.Name, s.SHA256, q.Now.UTC()
	return nil
}

// labelOf is the label of a result without a label from a mapping: the test, and what
// distinguishes its figures from those of the plain test, so that they never share a row.
func labelOf(r *measure.Result) string {
	label := string(r.Test)
	if d := r.Path.Direction; d != measure.Forward && d != "" {
		label += " " + string(d)
	}
	if r.Test == measure.TestLatency && latency.OptionsOf(r.Options).Protocol == "udp" {
		label += " udp"
	}
	if isMissing(r, finding.GoodputOfSender) {
		label += ", sender's count"
	}
	return label
}
