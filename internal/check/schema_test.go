package check

import (
	"flag"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"
	"soku/internal/campaign/plan"
	"soku/test/schema"
)

var update = flag.Bool("update", false, "write the generated files anew")

const schemaFile = "../../docs/reference/check.schema.json"

// rulesSchema is a file of rules as JSON Schema, made from the tags of [Rules] and [Rule].
func rulesSchema() *jsonschema.Schema {
	value := func(f reflect.StructField) *jsonschema.Schema {
		if f.Type == reflect.TypeFor[plan.Selection]() {
			return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{OneOf: append(schema.Plain().OneOf,
				&jsonschema.Schema{Type: "array", Items: schema.Plain()})}}
		}
		if f.Type == reflect.TypeFor[Expression]() {
			return &jsonschema.Schema{Type: "string", Pattern: "<=|>=|no worse than|better than|same as"}
		}
		return schema.Plain()
	}
	one := uint64(1)
	s := schema.Struct(reflect.TypeFor[Rules](), func(reflect.StructField) *jsonschema.Schema {
		rule := schema.Struct(reflect.TypeFor[Rule](), value)
		rule.Required = []string{"check"}
		return &jsonschema.Schema{Type: "array", MinItems: &one, Items: rule}
	})
	s.Version, s.Title, s.Required = jsonschema.Version, "soku rules for check", []string{"rules"}
	return s
}

func TestTheSchemaOfRulesIsUpToDate(t *testing.T) {
	schema.UpToDate(t, schemaFile, schema.Text(t, rulesSchema()), *update)
}

func TestTheSchemaOfRulesAndTheDecoderAgree(t *testing.T) {
	s := schema.Compile(t, schemaFile)
	for _, text := range []string{
		"rules: [{check: goodput >= 1G}]",
		"rules: [{name: 5, test: up, where: {sku: a, zone: [1, 2]}, check: no worse than before by 3 %}]",
	} {
		if _, err := Parse("r.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := schema.CheckYAML(s, []byte(text)); err != nil {
			t.Errorf("%s are rules, but not by the schema: %v", text, err)
		}
	}
	for _, text := range []string{
		"rules: []", "rule: [{check: goodput >= 1G}]", "rules: [{name: x}]", "rules: [{chekc: goodput >= 1G}]", "rules: [{check: goodput}]",
		"rules: [{check: failed <= 0 %, where: high}]", "rules: [{check: failed <= 0 %, where: {a: {b: c}}}]",
	} {
		if _, err := Parse("r.yaml", []byte(text)); err == nil {
			t.Errorf("the decoder takes %s", text)
		}
		if schema.CheckYAML(s, []byte(text)) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}
