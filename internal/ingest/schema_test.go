package ingest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the generated files anew")

const schemaFile = "../../docs/reference/mapping.schema.json"

func TestTheSchemaOfMappingsIsUpToDate(t *testing.T) {
	want, err := schemaJSON()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s differs from the mapping's structs (%v); make it anew: go test ./internal/ingest -run Schema -update", schemaFile, err)
	}
}

// validator checks YAML text against the schema.
func validator(t *testing.T) func(text []byte) error {
	t.Helper()
	raw, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mapping.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mapping.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		b, err := yaml.YAMLToJSON(text)
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			return err
		}
		return s.Validate(v)
	}
}

func TestTheSchemaOfMappingsAndTheDecoderAgree(t *testing.T) {
	valid := validator(t)
	good := map[string]string{"a campaign": campaignMapping, "all tests": fuzzMapping, "no table": "path: '{sku}/{zone}/run{repeat}.json'\nstarted: 2021-05-30\nlacks: [x]\n"}
	files, err := filepath.Glob("../../examples/cases/*/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d mappings of cases, %v", len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		good[f] = string(b)
	}
	for name, text := range good {
		if _, err := ParseMapping(name, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := valid([]byte(text)); err != nil {
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
		"results: [{test: trace, figures: {mean: {column: a, unit: ms}}}]",
		"results: [{test: tcp, figures: {goodput: {column: a, unit: ms}}}]",
		"results: [{test: tcp, figures: {goodput: {column: a}}}]",
		"results: [{test: tcp, figures: {goodput: {low: a, unit: bit/s}}}]",
		"results: [{test: tcp, figures: {mean: {column: a, unit: ms}}}]",
		"results: [{test: tcp, options: {size: {value: 1}}, figures: {goodput: {column: a, unit: bit/s}}}]",
	} {
		if _, err := ParseMapping("m.yaml", []byte(text)); err == nil {
			t.Errorf("the decoder takes %s", text)
		}
		if valid([]byte(text)) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}
