package ingest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/test/schema"
)

var update = flag.Bool("update", false, "write the generated files anew")

const schemaFile = "../../docs/reference/mapping.schema.json"

func TestTheSchemaOfMappingsIsUpToDate(t *testing.T) {
	schema.UpToDate(t, schemaFile, schema.Text(t, mappingSchema()), *update)
}

func TestTheSchemaOfMappingsAndTheDecoderAgree(t *testing.T) {
	s := schema.Compile(t, schemaFile)
	good := map[string]string{"a campaign": campaignMapping, "all tests": fuzzMapping, "no table": "path: '{sku}/{zone}/run{repeat}.json'\nstarted: 2021-05-30\nlacks: [x]\n"}
	for name, text := range mappingsOfCases(t) {
		good[name] = string(text)
	}
	for name, text := range good {
		if _, err := ParseMapping(name, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := schema.CheckYAML(s, []byte(text)); err != nil {
			t.Errorf("%s is a mapping, but not by the schema: %v", name, err)
		}
	}
	const results = "results: [{test: tcp, figures: {goodput: {column: a, unit: bit/s}}}]\n"
	for _, text := range []string{
		"campain: x",
		results + "round: r",
		results + "round: {value: 0}",
		results + "round: {value: 10001}",
		results + "round: {low: a, high: b}",
		results + "repeat: {column: r}",
		results + "session: {column: a, value: b}",
		"session: {column: a}",
		"results: [{test: tcp}]",
		"results: [{test: tcp, figures: {goodput: {column: a, unit: bit/s}}, limits: {bytes: {column: b, unit: B}}}]",
		"results: [{test: tcp, figures: {goodput: {column: a, unit: bit/s}}, limits: {goodput: {column: b}}}]",
		"results: [{test: ping, figures: {mean: {column: a, unit: ms}}, limits: {goodput: {column: b, unit: bit/s}}}]",
		"results: [{test: tcp, figures: {}}]",
		"results: [{figures: {goodput: {column: a, unit: bit/s}}}]",
		"results: [{test: tcp, labels: x, figures: {goodput: {column: a, unit: bit/s}}}]",
		"results: [{test: trace, figures: {mean: {column: a, unit: ms}}}]",
		"results: [{test: tcp, figures: {goodput: {column: a, unit: ms}}}]",
		"results: [{test: tcp, figures: {goodput: {column: a}}}]",
		"results: [{test: tcp, figures: {goodput: {low: a, unit: bit/s}}}]",
		"results: [{test: tcp, figures: {goodput: {column: a, high: b, unit: bit/s}}}]",
		"results: [{test: tcp, figures: {goodput: {column: a, value: 1, unit: bit/s}}}]",
		"results: [{test: tcp, figures: {goodput: {value: 1, low: a, high: b, unit: bit/s}}}]",
		"results: [{test: tcp, figures: {goodput: {unit: bit/s}}}]",
		"results: [{test: tcp, options: {duration: {low: a, high: b}}, figures: {goodput: {column: a, unit: bit/s}}}]",
		"results: [{test: tcp, figures: {mean: {column: a, unit: ms}}}]",
		"results: [{test: tcp, options: {size: {value: 1}}, figures: {goodput: {column: a, unit: bit/s}}}]",
	} {
		if _, err := ParseMapping("m.yaml", []byte(text)); err == nil {
			t.Errorf("the decoder takes %s", text)
		}
		if schema.CheckYAML(s, []byte(text)) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}

// mappingsOfCases returns the mappings of the published tables by file; each is in its table's folder.
func mappingsOfCases(t testing.TB) map[string][]byte {
	t.Helper()
	tables, err := filepath.Glob("../../examples/cases/*/*.csv")
	if err != nil || len(tables) < 6 {
		t.Fatalf("%d tables of cases, %v", len(tables), err)
	}
	all := map[string][]byte{}
	for _, table := range tables {
		name := strings.TrimSuffix(table, ".csv") + ".yaml"
		if all[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
