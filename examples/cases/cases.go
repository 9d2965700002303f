// Package cases has the plans of the studies in this folder, for networks in a cloud.
package cases

import "embed"

//go:embed */cloud.yaml
var files embed.FS

// Names are the studies, in order.
func Names() []string {
	var out []string
	entries, _ := files.ReadDir(".") // embedded, so that it cannot fail
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Plan is the plan of a study; false for one that is not here.
func Plan(name string) (text []byte, found bool) {
	text, err := files.ReadFile(name + "/cloud.yaml")
	return text, err == nil
}
