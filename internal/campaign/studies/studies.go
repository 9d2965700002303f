// Package studies has the plans of published studies, for networks in a cloud. The folder
// of a study in examples/cases has the same plan as cloud.yaml, with the plan and topology
// for an emulated network and the published figures.
package studies

import (
	"embed"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names returns the names of the studies in ascending order.
func Names() []string {
	var out []string
	entries, _ := files.ReadDir(".") // embedded, so that it cannot fail
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// Plan returns the plan of a study; found is false if there is no study of that name.
func Plan(name string) (text []byte, found bool) {
	text, err := files.ReadFile(name + ".yaml")
	return text, err == nil
}
