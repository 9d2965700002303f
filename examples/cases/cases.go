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

// Plan returns the plan of a study. found is false if there is no such study.
func Plan(name string) (text []byte, found bool) {
	text, err := files.ReadFile(name + "/cloud.yaml")
	return text, err == nil
}
