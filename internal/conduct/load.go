package conduct

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/campaign/plan"
	"soku/internal/catalog"
	"soku/internal/engine/filecopy"
	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// Load reads a plan and the topology that it names, if any, fills in the addresses that the
// plan leaves to the topology, and checks that the hosts there can do what the plan asks.
// limits returns the documented limits; it is called if the plan names one. The topology is
// nil for a plan without a lab. An error is of kind file, with line and column.
func Load(file string, read func(name string) ([]byte, error), limits func() (*catalog.Catalog, error)) (*plan.Plan, *lab.Topology, error) {
	p, err := plan.LoadWith(file, read, limits)
	if err != nil {
		return nil, nil, err
	}
	if p.Lab == "" {
		return p, nil, checkCopies(p, nil)
	}
	t, err := lab.Load(p.LabFile(), read)
	if err != nil {
		return nil, nil, err
	}
	err = p.Resolve(func(host, label string) (string, error) {
		a, err := t.Address(host, label)
		return a.String(), err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, e := range p.Endpoints {
		if e.Value.Host != "" && t.Node(e.Value.Host) == nil {
			return nil, nil, measure.Fail(measure.KindFile, "cli.plan.unknown_host", measure.Figures{
				"file": file, "endpoint": e.Name, "host": e.Value.Host, "lab": t.Name, "topology": p.LabFile(),
			})
		}
	}
	if err := cmp.Or(checkServers(p, t), checkCopies(p, t)); err != nil {
		return nil, nil, err
	}
	return p, t, nil
}

// checkCopies checks that the servers that are started for the plan take the copies of its
// patterns; t is nil without a lab.
func checkCopies(p *plan.Plan, t *lab.Topology) error {
	for _, pt := range p.AllPatterns() {
		if !slices.ContainsFunc(pt.Tests, copiesToServer) {
			continue
		}
		for _, server := range p.Servers(&pt) {
			e, _ := p.Endpoints.Get(server.Endpoint.Name)
			if (server.SSH != "" || server.Agent != "") && e.Server == "" && e.CopyRoot == "" {
				return measure.Fail(measure.KindFile, "cli.plan.no_copy_root", measure.Figures{
					"file": p.File, "pattern": pt.Name, "endpoint": server.Endpoint.Name,
				})
			}
			if t == nil {
				continue
			}
			if n := t.Node(server.Host); n != nil && n.Disk == nil {
				return measure.Fail(measure.KindFile, "cli.plan.no_disk", measure.Figures{
					"file": p.File, "pattern": pt.Name, "host": server.Host, "lab": t.Name, "topology": p.LabFile(),
				})
			}
		}
	}
	return nil
}

// copiesToServer reports whether a test copies files to its server, or from there.
func copiesToServer(t plan.PatternTest) bool {
	o, err := option.Effective(t.Options, t.Test)
	return t.Test == measure.TestCopy && err == nil && option.NeedsServer(o, t.Test) && filecopy.OptionsOf(o).Stage != measure.StageNetwork
}

// checkServers checks that a server answers at the far end of every pattern in a lab.
func checkServers(p *plan.Plan, t *lab.Topology) error {
	for _, pt := range p.AllPatterns() {
		if !slices.ContainsFunc(pt.Tests, func(t plan.PatternTest) bool { return option.HasServer(t.Test) }) {
			continue
		}
		for _, server := range p.Servers(&pt) {
			if n := t.Node(server.Host); n != nil && !n.Server {
				return measure.Fail(measure.KindFile, "cli.plan.no_server", measure.Figures{
					"file": p.File, "pattern": pt.Name, "host": server.Host, "lab": t.Name, "topology": p.LabFile(),
				})
			}
		}
	}
	return nil
}

// Select returns the patterns that texts such as factor=level,level select, or those that the
// plan's only: does if there are no texts. An error is of kind usage.
func Select(p *plan.Plan, texts []string) (plan.Selection, error) {
	if len(texts) == 0 {
		return p.Only, nil
	}
	s, err := plan.ParseSelection(texts)
	if err == nil {
		err = p.CheckSelection(s)
	}
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "cli.run.only", measure.Figures{"cause": err})
	}
	for _, pt := range p.AllPatterns() {
		if s.Matches(pt.Levels) {
			return s, nil
		}
	}
	return nil, measure.Fail(measure.KindUsage, "cli.run.none_selected", measure.Figures{"only": strings.Join(texts, " "), "plan": p.File})
}
