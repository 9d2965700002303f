package plan

import (
	"slices"

	"soku/internal/fleet/ssh"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/yamlfile"
)

// ServerRunning is the server of an endpoint that runs already.
const ServerRunning = "running"

// checkSSH checks what an endpoint says about ssh and agents.
func (e Endpoint) checkSSH(d *yamlfile.File, path string) error {
	wrong := func(key, code string, figures measure.Figures) error {
		return d.LocateAt(path+"."+key, measure.Fail(measure.KindFile, code, figures))
	}
	switch {
	case e.Server != "" && e.Server != ServerRunning:
		return wrong("server", "campaign.endpoint_server", measure.Figures{"server": yamlfile.Shorten(e.Server), "known": ServerRunning})
	case e.CopyRoot != "" && (e.SSH == "" && e.Agent == "" || e.Server != ""):
		return wrong("copy_root", "campaign.copy_root_without_server", nil)
	case e.SSH == "" && e.Keep:
		return wrong("keep", "campaign.keep_without_ssh", nil)
	case e.Agent != "" && (e.SSH != "" || e.Host != "" || len(e.Command) > 0):
		return wrong("agent", "campaign.agent_and_other", nil)
	case e.SSH == "":
		return nil
	case e.Host != "" || len(e.Command) > 0:
		return wrong("ssh", "campaign.ssh_and_command", nil)
	case !ssh.IsDestination(e.SSH):
		return wrong("ssh", "campaign.ssh_destination", measure.Figures{"destination": yamlfile.Shorten(e.SSH)})
	}
	return nil
}

// RemoteHost is an endpoint that is reached by ssh.
type RemoteHost struct {
	Name     string
	Endpoint Endpoint
	Serves   bool // the campaign starts a server there
}

// RemoteHosts are the endpoints of the selected patterns that are reached by ssh, in the
// order of the plan.
func (p *Plan) RemoteHosts(only Selection) []RemoteHost {
	uses, serves := map[string]bool{}, map[string]bool{}
	for i := range p.patterns {
		pt := &p.patterns[i]
		if !only.Matches(pt.Levels) {
			continue
		}
		measures := slices.ContainsFunc(pt.Tests, func(t PatternTest) bool { return NeedsOwnServer(t.Test, t.Options) })
		s := p.EndpointSets(pt)
		clients, servers := s.used()
		for _, n := range clients {
			uses[s.Clients[n].Endpoint.Name] = true
		}
		for _, n := range servers {
			name := s.Servers[n].Endpoint.Name
			e, _ := p.Endpoints.Get(name)
			serves[name] = serves[name] || measures && e.Server == ""
			uses[name] = uses[name] || serves[name] || e.Address == "" // ssh knows it
		}
	}
	var out []RemoteHost
	for _, e := range p.Endpoints {
		if e.Value.SSH != "" && uses[e.Name] {
			out = append(out, RemoteHost{Name: e.Name, Endpoint: e.Value, Serves: serves[e.Name]})
		}
	}
	return out
}

// NeedsOwnServer reports whether a test needs a server of soku.
func NeedsOwnServer(test measure.Test, o measure.Options) bool {
	asked, err := option.Effective(o, test)
	return err == nil && option.NeedsServer(asked, test) && asked.Via == option.ViaSoku
}

// Agents are the names of endpoints in the selected patterns that are agents of a hub, and that of [Plan.CommandsOn], in the
// order of the plan.
func (p *Plan) Agents(only Selection) (endpoints []string) {
	uses := map[string]bool{p.CommandsOn: true}
	for i := range p.patterns {
		pt := &p.patterns[i]
		if !only.Matches(pt.Levels) {
			continue
		}
		s := p.EndpointSets(pt)
		clients, servers := s.used()
		for _, n := range clients {
			uses[s.Clients[n].Endpoint.Name] = true
		}
		for _, n := range servers {
			uses[s.Servers[n].Endpoint.Name] = true
		}
	}
	for _, e := range p.Endpoints {
		if e.Value.Agent != "" && uses[e.Name] {
			endpoints = append(endpoints, e.Name)
		}
	}
	return endpoints
}
