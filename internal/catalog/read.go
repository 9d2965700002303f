package catalog

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// format is that of a file of limits.
var format = yamlfile.Format{MaxBytes: 64 << 10, Begin: "tables: [{figure: goodput, ...}]"}

// maxText is the most bytes of an ID, a name or an address.
const maxText = 200

// document is a file of limits.
type document struct {
	Tables []table `yaml:"tables"`
}

// table are limits of one figure that were read from one page.
type table struct {
	Of        string                   `yaml:"of"`
	Also      string                   `yaml:"also"`
	Source    string                   `yaml:"source"`
	Date      string                   `yaml:"date"`
	Figure    string                   `yaml:"figure"`
	Direction string                   `yaml:"direction"`
	Flow      string                   `yaml:"flow"`
	Duration  string                   `yaml:"duration"`
	Limits    yamlfile.Ordered[string] `yaml:"limits"`
}

// Parse reads the text of a file of limits; file is its path, for messages. An error has kind
// file and begins with FILE:LINE:COLUMN.
func Parse(file string, text []byte) (*Catalog, error) {
	d, err := yamlfile.Parse(file, text, format)
	if err != nil {
		return nil, err
	}
	var doc document
	if err := d.Decode(d.Root, &doc, ""); err != nil {
		return nil, err
	}
	var out []Component
	index := map[string]int{}
	for i, t := range doc.Tables {
		at := "tables." + strconv.Itoa(i+1)
		f, err := t.check(d, at)
		if err != nil {
			return nil, err
		}
		for _, l := range t.Limits {
			place := at + ".limits." + l.Name
			limit, err := t.limit(f, l.Name, l.Value)
			if err != nil {
				return nil, d.LocateAt(place, err)
			}
			key := strings.ToLower(l.Name)
			n, seen := index[key]
			if !seen {
				n, index[key] = len(out), len(out)
				out = append(out, Component{ID: l.Name, Name: t.name(l.Name)})
			}
			if slices.ContainsFunc(out[n].Limits, func(o Limit) bool { return o.kind() == limit.kind() }) {
				return nil, d.LocateAt(place, measure.Fail(measure.KindFile, "catalog.twice", measure.Figures{"id": yamlfile.Shorten(l.Name), "figure": t.Figure}))
			}
			out[n].Limits = append(out[n].Limits, limit)
			out[n].also = strings.TrimSpace(out[n].also + " " + t.Also)
		}
	}
	return newCatalog(out), nil
}

// name is what people call a component: what it is, and the end of its ID.
func (t *table) name(id string) string { return strings.TrimSpace(t.Of + " " + path.Base(id)) }

// check checks all of a table but its limits.
func (t *table) check(d *yamlfile.File, at string) (figure, error) {
	for _, m := range []struct{ key, value string }{{"figure", t.Figure}, {"source", t.Source}, {"date", t.Date}} {
		if m.value == "" {
			return figure{}, d.LocateAt(at, measure.Fail(measure.KindFile, "catalog.missing", measure.Figures{"key": m.key}))
		}
	}
	for _, m := range []struct {
		key, value string
		known      []string
	}{
		{"figure", t.Figure, Figures()},
		{"direction", t.Direction, []string{"", In, Out}},
		{"flow", t.Flow, []string{"", Single}},
		{"duration", t.Duration, []string{"", Burst}},
	} {
		if !slices.Contains(m.known, m.value) {
			return figure{}, d.LocateAt(at+"."+m.key, measure.Fail(measure.KindFile, "catalog.value", measure.Figures{
				"text": yamlfile.Shorten(m.value), "known": slices.DeleteFunc(m.known, func(k string) bool { return k == "" }),
			}))
		}
	}
	if _, err := time.Parse(time.DateOnly, t.Date); err != nil {
		return figure{}, d.LocateAt(at+".date", measure.Fail(measure.KindFile, "catalog.date", measure.Figures{"text": yamlfile.Shorten(t.Date)}))
	}
	for _, key := range []struct{ key, value string }{{"of", t.Of}, {"also", t.Also}, {"source", t.Source}} {
		if len(key.value) > maxText {
			return figure{}, d.LocateAt(at+"."+key.key, measure.Fail(measure.KindFile, "catalog.long", measure.Figures{"most": maxText}))
		}
	}
	if len(t.Limits) == 0 {
		return figure{}, d.LocateAt(at, measure.Fail(measure.KindFile, "catalog.missing", measure.Figures{"key": "limits"}))
	}
	return figureOf(t.Figure), nil
}

func (t *table) limit(f figure, id, value string) (Limit, error) {
	if !isID(id) {
		return Limit{}, measure.Fail(measure.KindFile, "catalog.id", measure.Figures{"id": yamlfile.Shorten(id)})
	}
	v, err := f.parse(value)
	if err != nil {
		return Limit{}, err
	}
	if v <= 0 {
		return Limit{}, measure.Fail(measure.KindFile, "catalog.not_positive", nil)
	}
	return Limit{
		Figure: f.name, Value: v, Unit: f.unit, Direction: t.Direction, Flow: t.Flow, Duration: t.Duration,
		Source: t.Source, Date: t.Date,
	}, nil
}

// isID reports whether text can identify a component.
func isID(text string) bool {
	return text != "" && len(text) <= maxText && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-", r)
	})
}
