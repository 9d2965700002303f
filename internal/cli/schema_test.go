package cli

import (
	"flag"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"soku/internal/measure"
	"soku/test/schema"
)

var update = flag.Bool("update", false, "write the generated files anew")

const explanationFile = "../../docs/reference/explanation.schema.json"

// schemaOfExplanations refers to the schema of results, which is in the same folder. It has no $id,
// so that the reference is relative to where the file is.
func schemaOfExplanations() *jsonschema.Schema {
	const results = "result.schema.json"
	reflector := jsonschema.Reflector{
		AllowAdditionalProperties: true,
		Anonymous:                 true,
		Mapper: func(rt reflect.Type) *jsonschema.Schema {
			switch rt {
			case reflect.TypeFor[measure.Result]():
				return &jsonschema.Schema{Ref: results}
			case reflect.TypeFor[measure.Verdict]():
				return &jsonschema.Schema{Ref: results + "#/$defs/Verdict"}
			}
			return nil
		},
	}
	s := reflector.Reflect(&explanation{})
	s.Title = "soku explanation"
	return s
}

func TestThePublishedSchemaOfExplanationsIsTheTypes(t *testing.T) {
	schema.UpToDate(t, explanationFile, schema.Text(t, schemaOfExplanations()), *update)
}
