package truth

import (
	"testing"

	"github.com/vishvananda/netns"

	"soku/internal/lab"
)

// namespaceOf is the network namespace of a node, until the test ends.
func namespaceOf(t *testing.T, l *lab.Lab, node string) netns.NsHandle {
	t.Helper()
	ns, err := netns.GetFromName(lab.NamespaceName(l.Topology.Name, node))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	return ns
}
