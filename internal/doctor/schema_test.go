package doctor

import (
	"bytes"
	"encoding/json"
	"flag"
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"soku/internal/measure"
	"soku/test/schema"
)

var update = flag.Bool("update", false, "write the generated files anew")

const schemaFile = "../../docs/reference/doctor.schema.json"

func documentSchema() *jsonschema.Schema {
	reflector := jsonschema.Reflector{
		AllowAdditionalProperties: true,
		Mapper: func(rt reflect.Type) *jsonschema.Schema {
			if rt == reflect.TypeFor[measure.Figures]() {
				f := schema.Figures()
				f.AdditionalProperties.OneOf = append(f.AdditionalProperties.OneOf, &jsonschema.Schema{Type: "boolean"})
				return f
			}
			return nil
		},
	}
	s := reflector.Reflect(&Document{})
	s.ID, s.Title = Schema, "soku doctor"
	return s
}

func TestThePublishedSchemaIsTheTypes(t *testing.T) {
	schema.UpToDate(t, schemaFile, schema.Text(t, documentSchema()), *update)
}

// The document has a host with a setting that can be changed, a path on which the server is not
// reached, and a far end that reports nothing.
func TestDocumentsHoldToThePublishedSchema(t *testing.T) {
	s := schema.Compile(t, schemaFile)
	slow, unreached := healthy(), reached()
	slow.Facts.Sysctl["net.ipv4.tcp_rmem"] = "4096 131072 262144"
	failed(measure.KindUnreachable, "dial.refused", 1)(unreached)
	d := Document{
		Schema: Schema, Tool: measure.Tool{Name: "soku", Version: "v1.2.3"}, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Host: "vm2", Wanted: slow.Wanted, BDP: slow.BDP(),
		Ends: []End{Examine(Checks, slow), Examine(PathChecks, unreached), Examine(Checks, &Subject{})},
	}
	for i, where := range []measure.Where{measure.AtClient, AtPath, measure.AtServer} {
		d.Ends[i].Where = where
	}
	if f := d.Ends[0].Findings; len(f) == 0 || len(f[0].Commands) == 0 || len(f[0].Figures) == 0 || len(f[0].Undo) == 0 {
		t.Fatalf("no finding with all its members: %+v", f)
	}
	if f := d.Ends[1].Findings; len(f) == 0 || f[0].Cause == nil {
		t.Fatalf("no finding with a cause: %+v", f)
	}
	if len(d.Ends[2].NotLooked) == 0 {
		t.Fatal("every check looked")
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	document, err := validator.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(document); err != nil {
		t.Error(err)
	}
	document.(map[string]any)["ends"].([]any)[2].(map[string]any)["not_looked_at"].([]any)[0].(map[string]any)["reason"] = "tired"
	if s.Validate(document) == nil {
		t.Error("an unknown reason passes")
	}
}
