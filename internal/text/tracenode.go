package text

import (
	"strconv"
	"strings"

	"soku/internal/measure"
)

// TraceNode names who answered a probe, and why it went no further. Names of hops come
// from the network: filter the sentence before you write it to a terminal.
func TraceNode(n *measure.TraceNode) Line {
	var labels []string
	for _, l := range n.MPLS {
		labels = append(labels, strconv.Itoa(l.Label))
	}
	code := string(n.ReasonCode)
	if !English().Has("reason." + code) {
		code = "" // of another version; the document has the words, too
	}
	return Line{Key: "trace.node", Args: Args{
		"Name": n.Name, "Address": n.Address, "MPLS": strings.Join(labels, "/"), "ReasonCode": code, "Reason": n.Reason,
	}}
}
