package report

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"soku/internal/text"
)

// Links and the names of tables refer to identities.
func TestEachIdentityIsOnThePageOnce(t *testing.T) {
	v := newView(build(t, campaignWithFailure()), text.English()).withCharts()
	for i := range v.Sections { // each has every table and map
		fields := reflect.ValueOf(&v.Sections[i]).Elem()
		for k := range fields.NumField() {
			if f := fields.Field(k); f.Type() == reflect.TypeFor[table]() {
				f.Set(reflect.ValueOf(table{Columns: []column{{Name: "some"}}}))
			}
		}
		v.Sections[i].Heats, v.Sections[i].ContentionMaps = []heatMap{{}}, []heatMap{{}}
	}
	template, err := pageTemplate(text.English())
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := template.Execute(&page, v); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page.String(), -1) {
		if seen[m[1]] {
			t.Errorf("%s is there twice", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` (?:aria-labelledby="|href="#)([^"]*)"`).FindAllStringSubmatch(page.String(), -1) {
		for id := range strings.FieldsSeq(m[1]) {
			if !seen[id] {
				t.Errorf("%s is not on the page", id)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d identities", len(seen))
	}
}
