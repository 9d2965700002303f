package web

import (
	"strings"
	plain "text/template"

	"soku/internal/hub"
)

var exampleText = plain.Must(plain.ParseFS(pageFiles, "templates/example.yaml.tmpl"))

// examplePlan is a plan that is ready to start: between the first two agents that are connected and have names of
// their own. It is empty without two of them.
func examplePlan(all []hub.Agent) string {
	var names []string
	for i, a := range all { // sorted by name
		shared := i > 0 && all[i-1].Name == a.Name || i+1 < len(all) && all[i+1].Name == a.Name
		if a.State == hub.Connected && !shared && len(names) < 2 {
			names = append(names, a.Name)
		}
	}
	if len(names) < 2 {
		return ""
	}
	var out strings.Builder
	if exampleText.Execute(&out, struct{ From, To string }{names[0], names[1]}) != nil {
		return "" // a builder takes all that is written
	}
	return out.String()
}
