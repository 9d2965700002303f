package campaign_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/test/schema"
)

var update = flag.Bool("update", false, "write the generated files anew")

const schemaFile = "../../docs/reference/plan.schema.json"

func TestSchemaInTheDocumentationIsUpToDate(t *testing.T) {
	schema.UpToDate(t, schemaFile, schema.Text(t, campaign.PlanSchema()), *update)
}

func TestSchemaAndDecoderAgree(t *testing.T) {
	s := schema.Compile(t, schemaFile)
	for name, text := range plans(t) {
		_, err := campaign.Parse(name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := schema.CheckYAML(s, []byte(text)); err != nil {
			t.Errorf("%s is a plan, but not by the schema: %v", name, err)
		}
	}
	for _, text := range []string{
		minimal + "repaets: 3\n",
		minimal + "rounds: 0\n",
		minimal + "rounds: many\n",
		strings.Replace(minimal, "duration", "durration", 1),
		strings.Replace(minimal, "test: tcp", "test: quic", 1),
		strings.Replace(minimal, "address", "adress", 1),
		minimal + "factors: {streams: [{nmae: 4}]}\n",
		minimal + "factors: {streams: {from: 1, to: 64, scale: log3}}\n",
		minimal + "factors: {streams: [{name: a, options: {stream: 4}}]}\n",
	} {
		if _, err := campaign.Parse("x", []byte(text)); err == nil {
			t.Errorf("the decoder takes\n%s", text)
		}
		if schema.CheckYAML(s, []byte(text)) == nil {
			t.Errorf("the schema takes\n%s", text)
		}
	}
}

// plans are the example plans and those of the tests.
func plans(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"minimal": minimal, "full": full, "interfaces": interfaces, "zip": zipped + "zip: [[client, server]]\n",
		"conditions": conditional + "  disk: [plain, {name: u, before: ./on, when: {region: tokyo, streams: [1, 4]}}]\n" + conditionalTests,
		"numbers":    minimal + "factors: {streams: {from: 1, to: 64, scale: log2}, rate: {from: 1M, to: 10M, step: 1M}}\n"}
	files, err := filepath.Glob("../../examples/*.yaml")
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
