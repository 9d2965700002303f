package ingest

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/invopop/jsonschema"

	"soku/internal/measure/option"
	"soku/test/schema"
)

// mappingSchema is the mapping file as JSON Schema, made from the tags of [Mapping] and from the
// figures, units and options that tables can have, for editors that complete and check mappings.
func mappingSchema() *jsonschema.Schema {
	s := schema.Struct(reflect.TypeFor[Mapping](), valueSchema)
	s.Version = jsonschema.Version
	s.Title = "soku mapping of tables and files for ingest"
	s.DependentRequired = map[string][]string{"round": {"results"}, "repeat": {"round"}, "session": {"results"}}
	s.Definitions = jsonschema.Definitions{"text": schema.Plain(), "cell": cellSchema()}
	for kind, name := range unitKinds {
		s.Definitions[name] = figureSchema(kind)
	}
	return s
}

// unitKinds are the names of the definitions of figures.
var unitKinds = map[unitKind]string{rateUnit: "rate", timeUnit: "time", bytesUnit: "bytes", ratioUnit: "ratio", countUnit: "count"}

// defined is a reference to a definition of [mappingSchema].
func defined(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

func described(s *jsonschema.Schema, text string) *jsonschema.Schema {
	s.Description = text
	return s
}

func valueSchema(f reflect.StructField) *jsonschema.Schema {
	switch f.Type {
	case reflect.TypeFor[Cells]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: defined("cell")}
	case reflect.TypeFor[Cell]():
		switch f.Name {
		case "Round":
			return numberSchema(maxRound)
		case "Repeat":
			return numberSchema(maxRepeat)
		}
		return defined("cell")
	case reflect.TypeFor[[]string]():
		return &jsonschema.Schema{Type: "array", Items: defined("text")}
	case reflect.TypeFor[[]Mapped]():
		most := uint64(maxMapped)
		return &jsonschema.Schema{Type: "array", MaxItems: &most, Items: resultSchema()}
	}
	return defined("text")
}

// cellSchema is a [Cell] that is no figure: a column or a value.
func cellSchema() *jsonschema.Schema {
	s := schema.Struct(reflect.TypeFor[Cell](), valueSchema)
	for _, key := range []string{"low", "high", "unit"} {
		s.Properties.Delete(key)
	}
	s.OneOf = []*jsonschema.Schema{{Required: []string{"column"}}, {Required: []string{"value"}}}
	return s
}

// numberSchema is a cell with a whole number from 1.
func numberSchema(most int) *jsonschema.Schema {
	s := cellSchema()
	value, _ := s.Properties.Get("value")
	*value = jsonschema.Schema{Description: value.Description, OneOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: "1", Maximum: json.Number(strconv.Itoa(most))}, {Type: "string", Pattern: "^[0-9]+$"},
	}}
	return s
}

// figureSchema is the cell of a figure: a column, a value or a range, in one of its units. A count
// may be without one.
func figureSchema(kind unitKind) *jsonschema.Schema {
	s := schema.Struct(reflect.TypeFor[Cell](), valueSchema)
	s.OneOf = []*jsonschema.Schema{{Required: []string{"column"}}, {Required: []string{"value"}}, {Required: []string{"low", "high"}}}
	s.DependentRequired = map[string][]string{"low": {"high"}, "high": {"low"}}
	unit, _ := s.Properties.Get("unit")
	*unit = jsonschema.Schema{Description: unit.Description}
	for _, name := range (tableFigure{kind: kind}).units() {
		unit.Enum = append(unit.Enum, name)
	}
	if kind == countUnit {
		unit.Enum = append(unit.Enum, 1)
	} else {
		s.Required = []string{"unit"}
	}
	return s
}

// resultSchema is an element of results. Which options and figures it can have depends on its test.
func resultSchema() *jsonschema.Schema {
	s := schema.Struct(reflect.TypeFor[Mapped](), valueSchema)
	s.Required = []string{"test", "figures"}
	for _, key := range []string{"test", "options", "figures", "limits"} {
		p, _ := s.Properties.Get(key)
		*p = jsonschema.Schema{Description: p.Description}
	}
	one := uint64(1)
	for _, test := range tableTests() {
		figures, limits, options := schema.Object(), schema.Object(), schema.Object()
		figures.MinProperties = &one
		for _, f := range tableFigures() {
			if f.fits(test) {
				figures.Properties.Set(f.name, defined(unitKinds[f.kind]))
			}
		}
		for _, name := range limitedFigures(test) {
			f, _ := figureOf(name)
			limits.Properties.Set(name, defined(unitKinds[f.kind]))
		}
		for _, f := range option.Fields(test) {
			options.Properties.Set(f.Key, described(defined("cell"), f.HelpFor(test)))
		}
		of := &jsonschema.Schema{Properties: jsonschema.NewProperties()}
		of.Properties.Set("test", &jsonschema.Schema{Const: string(test)})
		of.Properties.Set("options", options)
		of.Properties.Set("figures", figures)
		of.Properties.Set("limits", limits)
		s.OneOf = append(s.OneOf, of)
	}
	return s
}
