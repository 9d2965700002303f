package campaign

// ends are the two ends of a trial, as endpoint or endpoint.label; empty for this machine.
type ends struct{ client, server string }

// anyEnd stands for all endpoints, in ends that are about one of them alone.
const anyEnd = "*"

func (e ends) String() string {
	if e.client == "" {
		return e.server
	}
	return e.client + " → " + e.server
}
