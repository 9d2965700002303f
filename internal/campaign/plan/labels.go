package plan

import (
	"encoding/json"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// Members are endpoints, endpoint.label, groups, or agents of a hub by their labels, as {agents: "zone=west,os=linux"}: all
// of the labels have to match. Agents stand in the list as one member that begins with [byLabels].
type Members []string

// byLabels begins a member that is agents by their labels. No name has a colon.
const byLabels = "agents:"

// DecodeYAML reads a list of names and of {agents: LABELS}, or one {agents: LABELS}.
func (m *Members) DecodeYAML(d *yamlfile.File, n yamlfile.Node, path string) error {
	if _, isText := n.Text(); isText {
		_, err := d.Items(n, path) // which says that a list is expected
		return err
	}
	*m = Members{}
	for i, item := range d.ItemsOrOne(n) {
		at := path
		if n.IsList() {
			at = yamlfile.Join(path, strconv.Itoa(i+1))
			d.Mark(at, item.Place())
		}
		if _, isText := item.Text(); isText {
			var name string
			if err := d.Decode(item, &name, at); err != nil {
				return err
			}
			*m = append(*m, name)
			continue
		}
		var chosen selectedAgents
		if err := d.Decode(item, &chosen, at); err != nil {
			return err
		}
		labels, ok := cleanLabels(chosen.Agents)
		if !ok {
			return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.agent_labels", measure.Figures{"labels": yamlfile.Shorten(chosen.Agents)}))
		}
		*m = append(*m, byLabels+labels)
	}
	return nil
}

// selectedAgents are agents by their labels.
type selectedAgents struct {
	Agents string `yaml:"agents" doc:"Labels of agents, such as zone=west,os=linux: all of them have to match"`
}

// cleanLabels is a condition without spaces around its parts, such as zone=west,os=linux. ok is false if it is none.
func cleanLabels(text string) (clean string, ok bool) {
	parts := strings.Split(text, ",")
	for i, part := range parts {
		key, value, has := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !has || key == "" || len(part) > maxCondition {
			return "", false
		}
		parts[i] = key + "=" + value
	}
	return strings.Join(parts, ","), len(parts) <= maxConditions
}

// Bounds of labels: those that an agent can have, see package enrol.
const (
	maxConditions = 20
	maxCondition  = 400 // bytes
)

// AgentsByLabel are agents by a condition such as zone=west: their identities by the names of endpoints.
type AgentsByLabel = yamlfile.Ordered[yamlfile.Ordered[string]]

// LabelledAgent is an agent that has the labels that a plan asks for.
type LabelledAgent struct {
	Name     string // for people
	ID       string // identity
	Endpoint string // what the plan calls it, if that is known
}

// BindLabels returns the text of a plan in which agents that it names by labels are written down, in its key
// agents_by_label, for all labels that the key does not have yet. A plan without labels stays as it is. find returns
// the agents of a campaign that have the labels of a condition such as zone=west,os=linux; its error is returned with its place. Other mistakes
// in the plan are left to [Load].
func BindLabels(file string, text []byte, find func(campaign, labels string) ([]LabelledAgent, error)) ([]byte, error) {
	p := &Plan{File: file, Text: text}
	d, err := yamlfile.Parse(file, text, format)
	if err != nil {
		return nil, err
	}
	d.Former = p.formerKey
	if err := d.Decode(d.Root, p, ""); err != nil {
		return nil, err
	}
	known := len(p.AgentsByLabel)
	names := endpointNames{p, map[string]string{}}
	for _, m := range p.labelled() {
		if _, bound := p.AgentsByLabel.Get(m.labels); bound {
			continue
		}
		found, err := find(p.Campaign, m.labels)
		if err != nil {
			return nil, d.LocateAt(m.at, err)
		}
		all := yamlfile.Ordered[string]{}
		for _, a := range found {
			all = append(all, yamlfile.Entry[string]{Name: names.of(a), Value: a.ID})
		}
		p.AgentsByLabel = append(p.AgentsByLabel, yamlfile.Entry[yamlfile.Ordered[string]]{Name: m.labels, Value: all})
	}
	switch {
	case len(p.AgentsByLabel) == known:
		return text, nil
	case known > 0:
		return nil, d.FailAt("agents_by_label", "campaign.agents_by_label", measure.Figures{"labels": p.AgentsByLabel[known].Name})
	}
	return withFirst(text, d.Root.Place(), "agents_by_label: "+flow(p.AgentsByLabel)), nil
}

// withFirst adds a key to the text of a plan, before its first one; root is where that or the brace around all keys is.
func withFirst(text []byte, root yamlfile.Place, key string) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	line := []rune(lines[root.Line-1])
	indent, rest := string(line[:root.Column-1]), string(line[root.Column-1:])
	if braced, is := strings.CutPrefix(rest, "{"); is {
		lines[root.Line-1] = indent + "{" + key + ", " + braced
	} else {
		lines[root.Line-1] = indent + key + "\n" + indent + rest
	}
	return []byte(strings.Join(lines, ""))
}

// flow writes agents by label as YAML in one line, which is JSON.
func flow(agents AgentsByLabel) string {
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			return `""` // cannot happen: it is a string
		}
		return string(b)
	}
	parts := make([]string, len(agents))
	for i, a := range agents {
		of := make([]string, len(a.Value))
		for j, e := range a.Value {
			of[j] = quote(e.Name) + ": " + quote(e.Value)
		}
		parts[i] = quote(a.Name) + ": {" + strings.Join(of, ", ") + "}"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// endpointNames gives agents the names of endpoints.
type endpointNames struct {
	plan *Plan
	byID map[string]string // name by identity
}

// of is the endpoint that an agent is: one of the plan that names it, otherwise one by its name, with some or all of its
// identity if that is no name of an endpoint or is taken.
func (n *endpointNames) of(a LabelledAgent) string {
	if name, known := n.byID[a.ID]; known {
		return name
	}
	if a.Endpoint != "" {
		n.byID[a.ID] = a.Endpoint
		return a.Endpoint
	}
	for _, e := range n.plan.Endpoints {
		if e.Value.Agent != "" && (e.Value.Agent == a.Name || e.Value.Agent == a.ID) {
			n.byID[a.ID] = e.Name
			return e.Name
		}
	}
	clean := strings.Map(func(r rune) rune {
		if !IsEndpointName("a" + string(r)) {
			return '-'
		}
		return r
	}, a.Name)
	id := strings.ToLower(a.ID)
	for _, name := range []string{clean, clean + "-" + id[:min(len(id), 12)], "agent-" + id} {
		if n.byID[a.ID] = name; IsEndpointName(name) && !n.taken(name, a.ID) {
			break
		}
	}
	return n.byID[a.ID]
}

// taken reports whether a group, an endpoint or another agent has the name.
func (n *endpointNames) taken(name, id string) bool {
	_, endpoint := n.plan.Endpoints.Get(name)
	_, group := n.plan.Groups.Get(name)
	for other, its := range n.byID {
		if its == name && other != id {
			return true
		}
	}
	return endpoint || group
}

// labelledMember is a place of the plan that names agents by labels.
type labelledMember struct{ labels, at string }

// labelled are the places of the plan that name agents by labels.
func (p *Plan) labelled() (out []labelledMember) {
	add := func(at string, members Members) {
		for i, m := range members {
			if labels, is := strings.CutPrefix(m, byLabels); is {
				out = append(out, labelledMember{labels, at + "." + strconv.Itoa(i+1)})
			}
		}
	}
	for _, g := range p.Groups {
		add("groups."+g.Name, g.Value)
	}
	if p.Pairs == nil {
		return out
	}
	add("pairs.mesh", p.Pairs.Mesh)
	for _, lists := range []struct {
		key string
		of  []Members
	}{{"between", p.Pairs.Between}, {"list", p.Pairs.List}, {"exclude", p.Pairs.Exclude}} {
		for i, members := range lists.of {
			add("pairs."+lists.key+"."+strconv.Itoa(i+1), members)
		}
	}
	return out
}

// addLabelled makes endpoints of the agents that the plan names by labels. All labels have to be in agents_by_label: only a hub
// knows the agents.
func (p *Plan) addLabelled(d *yamlfile.File) error {
	for _, m := range p.labelled() {
		found, bound := p.AgentsByLabel.Get(m.labels)
		if !bound {
			return d.LocateAt(m.at, measure.Fail(measure.KindUsage, "campaign.labels_need_hub", measure.Figures{"labels": m.labels}))
		}
		if len(found) == 0 {
			return d.LocateAt(m.at, measure.Fail(measure.KindFile, "campaign.group_empty", nil))
		}
	}
	for _, a := range p.AgentsByLabel {
		for _, e := range a.Value {
			if _, known := p.Endpoints.Get(e.Name); !known {
				p.Endpoints = append(p.Endpoints, yamlfile.Entry[Endpoint]{Name: e.Name, Value: Endpoint{Agent: e.Value}})
			}
		}
	}
	return nil
}

// named are members with the endpoints in place of labels.
func (p *Plan) named(members Members) (out Members) {
	for _, m := range members {
		labels, is := strings.CutPrefix(m, byLabels)
		if !is {
			out = append(out, m)
			continue
		}
		found, _ := p.AgentsByLabel.Get(labels)
		out = append(out, found.Names()...)
	}
	return out
}

// LabelledEndpoints are the endpoints that the plan names by labels, by the condition. A plan without labels has none.
func (p *Plan) LabelledEndpoints() map[string][]string {
	if len(p.AgentsByLabel) == 0 {
		return nil
	}
	out := map[string][]string{}
	for _, a := range p.AgentsByLabel {
		out[a.Name] = a.Value.Names()
	}
	return out
}
