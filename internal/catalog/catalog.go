package catalog

import (
	"embed"
	"path"
	"slices"
	"strings"
	"sync"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

//go:embed data/*.yaml
var data embed.FS

// Catalog is a set of components, each with an ID of its own. It does not change once it is
// made, and is safe for concurrent use.
type Catalog struct {
	components []Component    // in the order of their IDs
	index      map[string]int // by ID in small letters
}

// Builtin are the components that the program comes with.
var Builtin = sync.OnceValue(func() *Catalog {
	entries, err := data.ReadDir("data")
	out := newCatalog(nil)
	for _, e := range entries {
		var text []byte
		var c *Catalog
		file := path.Join("data", e.Name())
		if text, err = data.ReadFile(file); err == nil {
			c, err = Parse(file, text)
		}
		if err != nil {
			break
		}
		out = out.Merge(c)
	}
	if err != nil { // a test reads the files
		panic(err)
	}
	return out
})

// newCatalog has components of different IDs.
func newCatalog(components []Component) *Catalog {
	slices.SortStableFunc(components, func(a, b Component) int { return strings.Compare(a.ID, b.ID) })
	c := &Catalog{components, make(map[string]int, len(components))}
	for i, one := range components {
		c.index[strings.ToLower(one.ID)] = i
	}
	return c
}

// Merge is c with the components of o. Of a component of both, the name and the limits of o
// replace those of c; a limit that o does not have stays.
func (c *Catalog) Merge(o *Catalog) *Catalog {
	out := slices.Clone(c.components)
	for _, more := range o.components {
		i, both := c.index[strings.ToLower(more.ID)]
		if !both {
			out = append(out, more)
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(out[i].Limits), func(l Limit) bool {
			return slices.ContainsFunc(more.Limits, func(n Limit) bool { return n.kind() == l.kind() })
		})
		more.ID, more.Limits, more.also = out[i].ID, slices.Concat(more.Limits, kept), strings.TrimSpace(more.also+" "+out[i].also)
		out[i] = more
	}
	return newCatalog(out)
}

// Find is the component of an ID, whatever the case of its letters. The error is of kind
// not_found and names a similar ID.
func (c *Catalog) Find(id string) (*Component, error) {
	if i, found := c.index[strings.ToLower(id)]; found {
		return &c.components[i], nil
	}
	e := measure.Fail(measure.KindNotFound, "catalog.unknown", measure.Figures{"id": yamlfile.Shorten(id)})
	if near := yamlfile.Nearest(id, c.IDs()); near != "" {
		return nil, e.WithHintCode("catalog.did_you_mean", measure.Figures{"near": near})
	}
	return nil, e
}

// IDs are those of all components, in their order.
func (c *Catalog) IDs() []string {
	out := make([]string, len(c.components))
	for i := range c.components {
		out[i] = c.components[i].ID
	}
	return out
}

// Search are the components that have each word of a text in their ID, name or other words for them, or are limited
// for that flow or duration, whatever the case of its letters; all of them for an empty text.
func (c *Catalog) Search(text string) []Component {
	words := strings.Fields(strings.ToLower(text))
	return slices.DeleteFunc(slices.Clone(c.components), func(one Component) bool {
		in := one.searched()
		return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(in, word) })
	})
}

// LimitsOfHost returns the limits of the host's own component for the figures that a trial
// measures, or nil if the component is unknown.
func (c *Catalog) LimitsOfHost(h *measure.Host, role Role, o measure.Options) []measure.Limit {
	if one := c.OfHost(h); one != nil {
		return one.Of(role, o)
	}
	return nil
}

// OfHost returns the component of a host, by the provider and the type that its metadata service
// names, or nil if it names none or the catalog has no such type.
func (c *Catalog) OfHost(h *measure.Host) *Component {
	if h == nil || h.Facts.Cloud == nil || h.Facts.Cloud.InstanceType == "" {
		return nil
	}
	if i, found := c.index[strings.ToLower(h.Facts.Cloud.Provider+"/"+h.Facts.Cloud.InstanceType)]; found {
		return &c.components[i]
	}
	return nil
}
