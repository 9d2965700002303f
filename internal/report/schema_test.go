package report

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/test/schema"
)

const schemaFile = "../../docs/reference/report.schema.json"

// inline is the schema of a type without definitions.
func inline(t reflect.Type) *jsonschema.Schema {
	r := jsonschema.Reflector{AllowAdditionalProperties: true, Anonymous: true, DoNotReference: true, Mapper: mapped}
	s := r.ReflectFromType(t)
	s.Version = ""
	return s
}

// mapped are the schemas of types whose JSON form is not that of their fields.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[measure.Test]():
		s := &jsonschema.Schema{Type: "string"}
		for _, test := range measure.Tests() {
			s.Enum = append(s.Enum, string(test))
		}
		return s
	case reflect.TypeFor[measure.Figures]():
		return schema.Figures()
	case reflect.TypeFor[Tool]():
		return &jsonschema.Schema{Type: "string"}
	case reflect.TypeFor[Basis]():
		return inline(reflect.TypeFor[basisJSON]())
	case reflect.TypeFor[Fact]():
		return inline(reflect.TypeFor[factJSON]())
	case reflect.TypeFor[measure.Histogram]():
		return &jsonschema.Schema{Ref: "#/$defs/Histogram"}
	case reflect.TypeFor[Spread]():
		return &jsonschema.Schema{Ref: "#/$defs/Spread"}
	case reflect.TypeFor[Row]():
		return &jsonschema.Schema{Ref: "#/$defs/Row"}
	}
	return nil
}

// orNull allows a list that was never begun to be null.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Type != "array" {
		return s
	}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{s, {Type: "null"}}}
}

// rowSchema is made of the fields of rows.
func rowSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	set := func(path string, value *jsonschema.Schema) {
		at := s
		names := strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			inner, ok := at.Properties.Get(name)
			if !ok {
				inner = &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
				at.Properties.Set(name, inner)
			}
			at = inner
		}
		at.Properties.Set(names[len(names)-1], value)
	}
	for _, f := range rowFields() {
		if f.member == "" {
			continue
		}
		if v := f.value(line{row: &Row{}}); v != nil {
			set(f.member, orNull(inline(reflect.TypeOf(v))))
			if !f.sparse {
				s.Required = append(s.Required, f.member)
			}
		}
	}
	for _, m := range metric.All() {
		for _, x := range m.ReportMembers() {
			if x.Spread {
				set(x.Path, mapped(reflect.TypeFor[Spread]()))
			} else {
				set(x.Path, &jsonschema.Schema{Type: "number"})
			}
		}
	}
	set("rtt_reported_ns.trials", &jsonschema.Schema{Type: "integer"})
	set("rtt_reported_ns.ranged", &jsonschema.Schema{Type: "boolean"})
	for _, d := range metric.Distributions() {
		set(d.Member+".histogram", mapped(reflect.TypeFor[measure.Histogram]()))
	}
	return s
}

// reportSchema is the schema of what [Report.JSON] writes.
func reportSchema() *jsonschema.Schema {
	r := jsonschema.Reflector{AllowAdditionalProperties: true, Anonymous: true, Mapper: mapped, Namer: func(t reflect.Type) string {
		if t == reflect.TypeFor[measure.Test]() { // another type has this name here
			return "Kind"
		}
		return t.Name()
	}}
	s := r.Reflect(&Report{})
	s.Definitions["Caveat"].Required = []string{"code"} // it has other members by its code
	s.Title = "soku report"
	s.Definitions["Row"] = rowSchema()
	plain := jsonschema.Reflector{AllowAdditionalProperties: true, Anonymous: true, DoNotReference: true}
	s.Definitions["Spread"] = plain.Reflect(&Spread{})
	s.Definitions["Spread"].Version = ""
	histogram := &jsonschema.Schema{Type: "object", Description: "Merges with others, as in soku.result/1", Properties: jsonschema.NewProperties(), Required: []string{"encoding", "data", "sum_ns"}}
	for _, member := range [][2]string{{"encoding", "string"}, {"data", "string"}, {"sum_ns", "number"}, {"clipped", "integer"}} {
		histogram.Properties.Set(member[0], &jsonschema.Schema{Type: member[1]})
	}
	s.Definitions["Histogram"] = histogram
	text, texts := &jsonschema.Schema{Type: "string"}, &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
	for of, sentences := range map[string][]string{"Test": {"answer", "description", "headline"}, "Place": {"reason"}, "Warning": {"text"}, "Missing": {"text"}, "Source": {"text"}} {
		d := s.Definitions[of]
		for _, name := range sentences {
			d.Properties.Set(name, text)
			d.Required = append(d.Required, name)
		}
	}
	for _, name := range []string{"caveats", "latency_methods"} {
		s.Definitions["Test"].Properties.Set(name, texts)
	}
	ranking, _ := s.Definitions["Test"].Properties.Get("ranking")
	s.Definitions["Test"].Properties.Set("ranking", orNull(ranking))
	version, _ := s.Definitions["Report"].Properties.Get("schema")
	version.Const = Schema
	return s
}

func TestThePublishedSchemaOfReportsIsTheTypes(t *testing.T) {
	schema.UpToDate(t, schemaFile, schema.Text(t, reportSchema()), *update)
}

func TestReportsHoldToTheirSchema(t *testing.T) {
	s := schema.Compile(t, schemaFile)
	every := everyTest()
	ingested := ingestedInput(map[string][]*measure.RTTFigures{"A": {figuresOf(11e3, 10e3, 20e3)}})
	for name, in := range map[string]Input{
		"every test": every, "failures": campaignWithFailure(), "load": loaded(fourPatterns().input(), 16, 0.4), "one trial": {Results: fourPatterns().input().Results[:1]}, "ingested": ingested,
	} {
		document := []byte(written(t, build(t, in).JSON))
		if err := schema.Check(s, document); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// Each member that is there is described.
		var v any
		if err := json.Unmarshal(document, &v); err != nil {
			t.Fatal(err)
		}
		if unknown := undescribed(reportSchema(), v); len(unknown) > 0 {
			t.Errorf("%s: the schema does not describe %q", name, unknown)
		}
	}
	if schema.Check(s, []byte(`{"schema":"soku.report/9"}`)) == nil {
		t.Error("a report of another version passes")
	}
}

// undescribed are the members of a document that a schema has no property for.
func undescribed(root *jsonschema.Schema, document any) (out []string) {
	var walk func(s *jsonschema.Schema, v any, path string)
	walk = func(s *jsonschema.Schema, v any, path string) {
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			s = root.Definitions[name]
		}
		if len(s.OneOf) > 0 {
			s = s.OneOf[0]
		}
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if s.Items != nil {
					walk(s.Items, e, path+"[]")
				}
			}
		case map[string]any:
			for name, member := range v {
				if s.Properties == nil { // any members
					continue
				}
				p, ok := s.Properties.Get(name)
				if at := path + "." + name; ok {
					walk(p, member, at)
				} else if !slices.Contains(out, at) {
					out = append(out, at)
				}
			}
		}
	}
	walk(root, document, "")
	return out
}
