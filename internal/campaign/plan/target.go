package plan

import (
	"cmp"
	"strings"

	"soku/internal/fleet/ssh"
	"soku/internal/measure"
)

// Target is an endpoint as a trial uses it.
type Target struct {
	Endpoint measure.Endpoint // name, label and address as the plan says, or zero for this machine
	Host     string           // host of the lab, or empty
	Command  []string         // what starts soku there, or nil
	SSH      string           // destination of ssh, or empty
	Agent    string           // agent of a hub, or empty

	port int // of its server; 0: the default
}

// Reference is "endpoint" or "endpoint.label" as plans write it, or "" for this
// machine.
func (t Target) Reference() string {
	if t.Endpoint.Label == "" {
		return t.Endpoint.Name
	}
	return t.Endpoint.Name + "." + t.Endpoint.Label
}

// Machine names the machine that the endpoint is, for what may not run on one
// machine at a time: endpoints that differ only in the address have the same.
func (t Target) Machine() string { return cmp.Or(t.Host, t.Endpoint.Name) }

// target is the endpoint behind "name" or "name.label"; the zero Target, this
// machine, for an empty reference.
func (p *Plan) target(ref string) Target {
	if ref == "" {
		return Target{}
	}
	name, label, _ := strings.Cut(ref, ".")
	e, _ := p.Endpoints.Get(name)
	return p.targetOf(name, label, &e)
}

// hasAddress reports whether others can reach an endpoint without a label: by its address, or by one that the topology, ssh or
// the agent knows.
func (e Endpoint) hasAddress() bool {
	return e.Address != "" || e.Host != "" || e.SSH != "" || e.Agent != ""
}

// targetOf is an endpoint at one of its addresses: that of a label, or its first.
func (p *Plan) targetOf(name, label string, e *Endpoint) Target {
	t := Target{Endpoint: measure.Endpoint{Name: name, Label: label, Address: e.Address}, Host: e.Host, Command: e.Command, SSH: e.SSH, Agent: e.Agent, port: e.Port}
	if label == "" && e.Address == "" && e.SSH != "" {
		t.Endpoint.Address = ssh.HostOf(e.SSH)
	}
	if label != "" {
		t.Endpoint.Address, _ = e.Addresses.Get(label)
	}
	if t.Endpoint.Address == "" {
		t.Endpoint.Address = p.resolved[t.Reference()]
	}
	return t
}
