// Package schema makes JSON Schemas of files that people write, from the tags of the structs that
// their decoders follow, and checks schemas in docs/reference and documents against them.
package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// Object is an object that has no keys but those of its properties.
func Object() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
}

// Plain is the schema of a text that YAML may read as another type: 16, 1.0 or true.
func Plain() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
}

// Figures is an object of figures, as findings and errors have them.
func Figures() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{
		OneOf: []*jsonschema.Schema{{Type: "number"}, {Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}}},
	}}
}

// Struct is an object with a property for each field that has a key in YAML. value makes the
// schema of a field's value, a new one each time; its description and range are those of the tags.
func Struct(t reflect.Type, value func(reflect.StructField) *jsonschema.Schema) *jsonschema.Schema {
	s := Object()
	for i := range t.NumField() {
		f := t.Field(i)
		key := f.Tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		p := value(f)
		p.Description = f.Tag.Get("doc")
		p.Minimum, p.Maximum = json.Number(f.Tag.Get("min")), json.Number(f.Tag.Get("max"))
		s.Properties.Set(key, p)
	}
	return s
}

// Text is a schema as the text of its file.
func Text(t *testing.T, s *jsonschema.Schema) []byte {
	t.Helper()
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// UpToDate checks that the file of a schema has the text that was made. With update it writes the
// file first.
func UpToDate(t *testing.T, file string, made []byte, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(have, made) {
		t.Errorf("%s is not what the types say (%v): run this test with -update", file, err)
	}
}

// Compile reads the schema in a file.
func Compile(t *testing.T, file string) *validator.Schema {
	t.Helper()
	s, err := validator.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Check checks a JSON document against a schema.
func Check(s *validator.Schema, document []byte) error {
	v, err := validator.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// CheckYAML checks YAML text against a schema.
func CheckYAML(s *validator.Schema, text []byte) error {
	document, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	return Check(s, document)
}
