package report

import (
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// hostTable has facts as rows and hosts as columns. Hosts that are alike in
// all but their name share a column.
func hostTable(hosts []Host, c *text.Catalogue) outline.Table {
	if len(hosts) == 0 {
		return outline.Table{}
	}
	kinds := alike(hosts)
	var keys []string
	for _, h := range kinds {
		for _, f := range h.Facts {
			keys = addOnce(keys, f.Key)
		}
	}
	out := outline.NewTable(len(keys) + 1)
	out.AddText(outline.Column{Name: c.Heading("column.host"), Head: true}, func(i int) string {
		if i == 0 {
			return c.Heading("fact.role")
		}
		return factName(c, keys[i-1])
	})
	for _, h := range kinds {
		out.AddText(outline.Column{Name: c.List(h.names)}, func(i int) string {
			if i == 0 {
				return c.List(roles(c, h.Roles))
			}
			for _, f := range h.Facts {
				if f.Key == keys[i-1] {
					return strings.Join(factValues(c, f), " / ")
				}
			}
			return text.Absent
		})
	}
	return out
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
