package schedule

// EndpointPair is the two ends of a trial, each as endpoint or endpoint.label; empty for this machine.
type EndpointPair struct{ Client, Server string }

// AnyEndpoint stands for all endpoints, in ends that are about one of them alone.
const AnyEndpoint = "*"

// String is "client → server", or the server alone for a client on this machine.
func (e EndpointPair) String() string {
	if e.Client == "" {
		return e.Server
	}
	return e.Client + " → " + e.Server
}
