package report

import (
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// hostTables have facts as rows: first those that all hosts share, then the others with hosts as columns.
// Hosts that are alike in all but their name share a column.
func hostTables(hosts []Host, c *text.Catalogue) (out []outline.Table) {
	kinds := alike(hosts)
	var same, different []string
	for _, h := range kinds {
		for _, f := range h.Facts {
			switch {
			case slices.Contains(same, f.Key) || slices.Contains(different, f.Key):
			case len(kinds) > 1 && !slices.ContainsFunc(kinds, func(o alikeHosts) bool { return o.value(c, f.Key) != h.value(c, f.Key) }):
				same = append(same, f.Key)
			default:
				different = append(different, f.Key)
			}
		}
	}
	if len(same) > 0 {
		t := factTable(c, same)
		t.AddText(outline.Column{Name: c.Sentence("hosts.all", nil)}, func(i int) string { return kinds[0].value(c, same[i]) })
		out = append(out, t)
	}
	if len(kinds) > 0 {
		t := factTable(c, append([]string{factRole}, different...))
		for _, h := range kinds {
			t.AddText(outline.Column{Name: c.List(h.names)}, func(i int) string {
				if i == 0 {
					return c.List(roles(c, h.Roles))
				}
				return h.value(c, different[i-1])
			})
		}
		out = append(out, t)
	}
	return out
}

const factRole = "fact.role"

// factTable has the names of facts as heads of its rows.
func factTable(c *text.Catalogue, keys []string) outline.Table {
	out := outline.NewTable(len(keys))
	out.AddText(outline.Column{Name: c.Heading("column.host"), Head: true}, func(i int) string { return factName(c, keys[i]) })
	return out
}

// value is a fact as a person reads it, or a dash.
func (h Host) value(c *text.Catalogue, key string) string {
	if f := find(h.Facts, func(f *Fact) bool { return f.Key == key }); f != nil {
		return strings.Join(factValues(c, *f), " / ")
	}
	return text.Absent
}

func roles(c *text.Catalogue, list []string) []string {
	out := make([]string, len(list))
	for i, role := range list {
		out[i] = c.Where(measure.Where(role))
	}
	return out
}

// alikeHosts are hosts of the same role and facts.
type alikeHosts struct {
	Host
	names []string
}

// alike joins hosts of the same role and facts; their host names go unless
// they show more than the names on the path.
func alike(hosts []Host) []alikeHosts {
	var out []alikeHosts
	for _, h := range hosts {
		h.Facts = slices.DeleteFunc(slices.Clone(h.Facts), func(f Fact) bool {
			return f.Key == hostName && len(f.Values) == 1 && f.Values[0].Equal(plain(h.Name))
		})
		kind := findOrAdd(&out, func(o alikeHosts) bool {
			return slices.Equal(o.Roles, h.Roles) && slices.EqualFunc(o.Facts, h.Facts, func(a, b Fact) bool {
				return a.Key == b.Key && slices.EqualFunc(a.Values, b.Values, text.Line.Equal)
			})
		}, alikeHosts{Host: h})
		kind.names = append(kind.names, h.Name)
	}
	return out
}
