package plan_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/test/plans"
	"soku/test/schema"
)

const schemaFile = "../../../docs/reference/plan.schema.json"

func TestSchemaInTheDocumentationIsUpToDate(t *testing.T) {
	schema.UpToDate(t, schemaFile, schema.Text(t, plan.PlanSchema()), *update)
}

// Editors read the file whole; what is said once can be changed in one place.
func TestTheSchemaSaysNothingTwice(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var visit func(path string, v any)
	visit = func(path string, v any) {
		object, is := v.(map[string]any)
		if is {
			same, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if len(same) > 200 && seen[string(same)] {
				t.Errorf("%s is defined elsewhere, too: %.120s…", path, same)
			}
			seen[string(same)] = true
			for key, member := range object {
				visit(path+"/"+key, member)
			}
		}
		if list, is := v.([]any); is {
			for i, element := range list {
				visit(fmt.Sprintf("%s/%d", path, i), element)
			}
		}
	}
	visit("#", document)
}

func TestSchemaAndDecoderAgree(t *testing.T) {
	s := schema.Compile(t, schemaFile)
	for name, text := range allPlans(t) {
		_, err := plan.Parse(name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := schema.CheckYAML(s, []byte(text)); err != nil {
			t.Errorf("%s is a plan, but not by the schema: %v", name, err)
		}
	}
	for _, text := range []string{
		plans.Minimal + "repaets: 3\n",
		plans.Minimal + "rounds: 0\n",
		plans.Minimal + "rounds: many\n",
		strings.Replace(plans.Minimal, "duration", "durration", 1),
		strings.Replace(plans.Minimal, "test: tcp", "test: quic", 1),
		strings.Replace(plans.Minimal, "address", "adress", 1),
		plans.Minimal + "factors: {streams: [{nmae: 4}]}\n",
		plans.Minimal + "factors: {streams: {from: 1, to: 64, scale: log3}}\n",
		plans.Minimal + "factors: {streams: [{name: a, options: {stream: 4}}]}\n",
	} {
		if _, err := plan.Parse("x", []byte(text)); err == nil {
			t.Errorf("the decoder takes\n%s", text)
		}
		if schema.CheckYAML(s, []byte(text)) == nil {
			t.Errorf("the schema takes\n%s", text)
		}
	}
}

// allPlans are the example plans and those of the tests.
func allPlans(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"minimal": plans.Minimal, "full": plans.Full, "interfaces": interfaces, "bound": plans.Bound,
		"conditions": conditional + "  disk: [plain, {name: u, before: ./on, when: {region: tokyo, streams: [1, 4]}}]\n" + conditionalTests,
		"ssh":        "campaign: a\nendpoints: {vm1: {ssh: admin@vm1, keep: true}, vm2: {ssh: vm2, port: 7000}, vm3: {address: 10.0.0.3, server: running}}\nfrom: vm1\nto: vm2\ntests: {up: {test: tcp}}\n",
		"numbers":    plans.Minimal + "factors: {streams: {from: 1, to: 64, scale: log2}, rate: {from: 1M, to: 10M, step: 1M}}\n"}
	files, err := filepath.Glob("../../../examples/cases/*/[pc]l*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = string(b)
	}
	return out
}
