package ingest

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/invopop/jsonschema"

	"soku/internal/measure"
)

// schemaJSON is the mapping file as JSON Schema, made from the tags of [Mapping] and from the
// figures, units and options that tables can have, for editors that complete and check mappings.
func schemaJSON() ([]byte, error) {
	s := structSchema(reflect.TypeFor[Mapping]())
	s.Version = jsonschema.Version
	s.Title = "soku mapping of tables and files for ingest"
	for _, key := range []string{"round", "repeat", "session"} {
		p, _ := s.Properties.Get(key)
		most := map[string]int{"round": maxRound, "repeat": maxRepeat}[key]
		s.Properties.Set(key, described(cellSchema(sourceOfValue(most)...), p.Description))
	}
	s.DependentRequired = map[string][]string{"round": {"results"}, "repeat": {"round"}, "session": {"results"}}
	results, _ := s.Properties.Get("results")
	most := uint64(maxMapped)
	results.MaxItems = &most
	results.Items = resultSchema()
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

func described(s *jsonschema.Schema, text string) *jsonschema.Schema {
	s.Description = text
	return s
}

// structSchema follows the tags that the decoder does.
func structSchema(t reflect.Type) *jsonschema.Schema {
	s := closedObject()
	for i := range t.NumField() {
		f := t.Field(i)
		key := f.Tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		p := plainValue()
		switch f.Type {
		case reflect.TypeFor[Cells]():
			p = &jsonschema.Schema{Type: "object", AdditionalProperties: cellSchema(sourceOfValue(0)...)}
		case reflect.TypeFor[Cell]():
			p = cellSchema(sourceOfValue(0)...)
		case reflect.TypeFor[[]string]():
			p = &jsonschema.Schema{Type: "array", Items: plainValue()}
		case reflect.TypeFor[[]Mapped]():
			p = &jsonschema.Schema{Type: "array"}
		}
		s.Properties.Set(key, described(p, f.Tag.Get("doc")))
	}
	return s
}

func closedObject() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
}

// plainValue is a text that YAML may read as something else: 16, 1.0 or true.
func plainValue() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
}

// cellSchema is a [Cell] of one of the forms.
func cellSchema(forms ...*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: forms}
}

// cellForm is a form of a [Cell], with some of its keys.
func cellForm(required []string, keys ...string) *jsonschema.Schema {
	s := closedObject()
	cell := structProperties(reflect.TypeFor[Cell]())
	for _, key := range keys {
		s.Properties.Set(key, described(plainValue(), cell[key]))
	}
	s.Required = required
	return s
}

// structProperties are the descriptions of a struct's keys.
func structProperties(t reflect.Type) map[string]string {
	out := map[string]string{}
	for i := range t.NumField() {
		out[t.Field(i).Tag.Get("yaml")] = t.Field(i).Tag.Get("doc")
	}
	return out
}

// sourceOfValue are the forms of a cell that is no figure; most bounds its whole number, 0 for
// one of any text.
func sourceOfValue(most int) []*jsonschema.Schema {
	value := cellForm([]string{"value"}, "value")
	if most > 0 {
		value.Properties.Set("value", &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			{Type: "integer", Minimum: "1", Maximum: json.Number(strconv.Itoa(most))}, {Type: "string", Pattern: "^[0-9]+$"},
		}})
	}
	return []*jsonschema.Schema{cellForm([]string{"column"}, "column"), value}
}

// resultSchema is an element of results: for each test the options and figures that it has.
func resultSchema() *jsonschema.Schema {
	out := new(jsonschema.Schema)
	doc := structProperties(reflect.TypeFor[Mapped]())
	for _, test := range tableTests() {
		one := structSchema(reflect.TypeFor[Mapped]())
		one.Required = []string{"test", "figures"}
		one.Properties.Set("test", &jsonschema.Schema{Const: string(test), Description: doc["test"]})
		figures, options := closedObject(), closedObject()
		for _, f := range tableFigures() {
			if f.fits(test) {
				figures.Properties.Set(f.name, f.schema())
			}
		}
		for _, f := range measure.OptionFields(test) {
			options.Properties.Set(f.Key, described(cellSchema(sourceOfValue(0)...), f.Help))
		}
		one.Properties.Set("figures", described(figures, doc["figures"]))
		one.Properties.Set("options", described(options, doc["options"]))
		out.OneOf = append(out.OneOf, one)
	}
	return out
}

// schema is the cell of a figure: a column or value, or a range, in one of its units.
func (f tableFigure) schema() *jsonschema.Schema {
	out := cellSchema(cellForm([]string{"column"}, "column", "unit"), cellForm([]string{"value"}, "value", "unit"), cellForm([]string{"low", "high"}, "low", "high", "unit"))
	for _, form := range out.OneOf {
		unit, _ := form.Properties.Get("unit")
		*unit = jsonschema.Schema{Description: unit.Description}
		for _, name := range f.units() {
			unit.Enum = append(unit.Enum, name)
		}
		if f.kind == countUnit {
			unit.Enum = append(unit.Enum, 1)
		} else {
			form.Required = append(form.Required, "unit")
		}
	}
	return out
}
