package plan

import (
	"reflect"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
	"soku/test/schema"

	"github.com/invopop/jsonschema"
)

// PlanSchema is the plan as JSON Schema, made from the tags of [Plan] and of
// [measure.Options], for editors that complete and check plans.
func PlanSchema() *jsonschema.Schema {
	s := schemaOf(reflect.TypeFor[Plan]())
	s.Version = jsonschema.Version
	s.Title = "soku campaign plan"
	s.Required = []string{"campaign", "tests"}
	s.Definitions = jsonschema.Definitions{"text": schema.Plain(), "selection": selectionSchema(), "level": levelSchema(), "limits": limitsSchema(), "members": membersSchema(), "by_labels": byLabelsSchema()}
	for _, t := range quantities {
		s.Definitions[t.name] = textOrNumber(t.description)
	}
	for _, key := range option.Keys() {
		f, _ := optionField(key)
		s.Definitions[optionName(key)] = optionSchema(f)
	}
	return s
}

// defined is a reference to a definition of [PlanSchema].
func defined(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// optionName is the definition of an option.
func optionName(key string) string { return "option_" + key }

// quantities are types of values that have a unit.
var quantities = []struct {
	of                reflect.Type
	name, description string
}{
	{reflect.TypeFor[measure.Rate](), "rate", "Bits a second, such as 50M or 1.5G"},
	{reflect.TypeFor[measure.Size](), "size", "Bytes, such as 1448, 128Ki or 10MB"},
	{reflect.TypeFor[measure.Duration](), "duration", "Time, such as 10s, 250ms or 2m30s; a bare number is seconds"},
}

// schemaForm is a type of the plan that has more than one form.
type schemaForm interface{ schema() *jsonschema.Schema }

// schemaOf follows the same types and tags that the decoder does.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	if f, ok := reflect.New(t).Interface().(schemaForm); ok {
		return f.schema()
	}
	if strings.HasPrefix(t.Name(), "Ordered[") {
		return orderedSchema(t)
	}
	for _, q := range quantities {
		if q.of == t {
			return defined(q.name)
		}
	}
	if t == reflect.TypeFor[measure.Percent]() {
		return &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+ *%$`}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return structSchema(t)
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &jsonschema.Schema{Type: "integer"}
	}
	return &jsonschema.Schema{Type: "number"}
}

func structSchema(t reflect.Type) *jsonschema.Schema {
	return schema.Struct(t, func(f reflect.StructField) *jsonschema.Schema { return schemaOf(f.Type) })
}

func textOrNumber(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Description: description, OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number", Minimum: "0"}}}
}

// orderedSchema describes a yamlfile.Ordered, a slice of its members.
func orderedSchema(t reflect.Type) *jsonschema.Schema {
	value, _ := t.Elem().FieldByName("Value")
	values := schemaOf(value.Type)
	if value.Type.Kind() == reflect.String {
		values = defined("text")
	}
	return &jsonschema.Schema{Type: "object", AdditionalProperties: values}
}

func (*Selection) schema() *jsonschema.Schema { return defined("selection") }

func selectionSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{OneOf: append(schema.Plain().OneOf,
		&jsonschema.Schema{Type: "array", Items: defined("text")})}}
}

func (*Search) schema() *jsonschema.Schema { return sweepSchema(reflect.TypeFor[Search]()) }

// sweepSchema describes a struct that has the numbers from one to another.
func sweepSchema(t reflect.Type) *jsonschema.Schema {
	s := structSchema(t)
	for _, key := range []string{"from", "to", "step"} {
		p, _ := s.Properties.Get(key)
		p.Type, p.OneOf = "", []*jsonschema.Schema{{Type: "string"}, {Type: "number"}}
	}
	scale, _ := s.Properties.Get("scale")
	for _, name := range scales {
		scale.Enum = append(scale.Enum, name)
	}
	return s
}

func (*Factor) schema() *jsonschema.Schema {
	s := sweepSchema(reflect.TypeFor[Factor]())
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "array", Items: defined("level")}, s}}
}

func (*Limits) schema() *jsonschema.Schema { return defined("limits") }

// limitsSchema has each figure by its key and, where that is enough, without its unit.
func limitsSchema() *jsonschema.Schema {
	names := &jsonschema.Schema{Enum: []any{limitSource, limitCatalog}}
	for _, m := range metric.All() {
		names.Enum = append(names.Enum, m.Key)
		if metric.Find(m.Name()) == m && m.Name() != m.Key {
			names.Enum = append(names.Enum, m.Name())
		}
	}
	s := &jsonschema.Schema{Type: "object", PropertyNames: names, AdditionalProperties: textOrNumber(""), Properties: jsonschema.NewProperties()}
	s.Properties.Set(limitCatalog, &jsonschema.Schema{
		Description: "Components of the catalog of documented limits (soku catalog search)",
		OneOf:       []*jsonschema.Schema{{Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}}},
	})
	return s
}

func (*Level) schema() *jsonschema.Schema { return defined("level") }

func levelSchema() *jsonschema.Schema {
	s := structSchema(reflect.TypeFor[Level]())
	s.Required = []string{"name"}
	name, _ := s.Properties.Get("name")
	name.Type, name.OneOf = "", schema.Plain().OneOf
	options := schema.Object()
	declared, _ := reflect.TypeFor[Level]().FieldByName("Options")
	options.Description = declared.Tag.Get("doc")
	for _, key := range option.Keys() {
		options.Properties.Set(key, defined(optionName(key)))
	}
	s.Properties.Set("options", options)
	return &jsonschema.Schema{OneOf: append(schema.Plain().OneOf, s)}
}

func (*Members) schema() *jsonschema.Schema { return defined("members") }

func membersSchema() *jsonschema.Schema {
	list := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{OneOf: append(schema.Plain().OneOf, defined("by_labels"))}}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{list, defined("by_labels")}}
}

func byLabelsSchema() *jsonschema.Schema {
	s := structSchema(reflect.TypeFor[selectedAgents]())
	s.Required = []string{"agents"}
	return s
}

func (*Contention) schema() *jsonschema.Schema {
	way := func() *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Enum: []any{Isolated, Together}}
	}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{way(), {Type: "array", Items: way()}}}
}

func (*Test) schema() *jsonschema.Schema {
	s := new(jsonschema.Schema)
	for _, test := range measure.Tests() {
		one := schema.Object()
		one.Required = []string{"test"}
		one.Properties.Set("test", &jsonschema.Schema{Const: string(test), Description: "What is measured"})
		turns := structSchema(reflect.TypeFor[TestTurns]())
		for p := turns.Properties.Oldest(); p != nil; p = p.Next() {
			one.Properties.Set(p.Key, p.Value)
		}
		for _, f := range option.Fields(test) {
			one.Properties.Set(f.Key, optionOfTest(f))
		}
		s.OneOf = append(s.OneOf, one)
	}
	return s
}

// optionOfTest is an option of one test: the definition, where that test has the same values.
func optionOfTest(f option.Field) *jsonschema.Schema {
	own := optionSchema(f)
	if general, found := optionField(f.Key); found && reflect.DeepEqual(optionSchema(general), own) {
		return defined(optionName(f.Key))
	}
	return own
}

func optionSchema(f option.Field) *jsonschema.Schema {
	t := f.Type()
	s := schemaOf(t)
	if t.Kind() == reflect.String && len(f.Enum) == 0 {
		s = schema.Plain() // dscp: 46
	}
	for _, v := range f.Enum {
		if n, err := strconv.Atoi(v); err == nil {
			s.Enum = append(s.Enum, n)
			continue
		}
		s.Enum = append(s.Enum, v)
	}
	s.Description = f.Help
	if r := f.Range(); r != "" {
		s.Description += " (" + r + ")"
	}
	return s
}
