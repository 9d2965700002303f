package yamlfile_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

var (
	menu     = yamlfile.Format{MaxBytes: 64 << 10, Begin: "dishes:", HintCode: "ingest.mapping_reference"}
	withAlso = yamlfile.Format{MaxBytes: 64 << 10, Aliases: true}
)

type dish struct {
	Name   string         `yaml:"name"`
	Price  float64        `yaml:"price" min:"0" max:"100"`
	Spicy  bool           `yaml:"spicy"`
	Weight measure.Size   `yaml:"weight"`
	Table  *int           `yaml:"table" min:"1"`
	With   []string       `yaml:"with"`
	Side   *dish          `yaml:"side"`
	Extra  map[string]int `yaml:"-"`
}

type dishes struct {
	Dishes yamlfile.Ordered[dish] `yaml:"dishes"`
}

func read(format yamlfile.Format, text string) (dishes, *yamlfile.File, error) {
	var d dishes
	f, err := yamlfile.Parse("m.yaml", []byte(text), format)
	if err == nil && !f.Root.IsNull() {
		err = f.Decode(f.Root, &d, "")
	}
	return d, f, err
}

func TestAStructIsReadByItsTags(t *testing.T) {
	d, f, err := read(menu, `
dishes:
  soup: {name: 3.10, price: 7.5, weight: 2Ki, table: 4, with: [salt, "true", no]}
  cake:
    name: |
      a
      b
    side:
      spicy: true
    price:
`)
	if err != nil {
		t.Fatal(err)
	}
	four := 4
	want := dishes{yamlfile.Ordered[dish]{
		{"soup", dish{Name: "3.10", Price: 7.5, Weight: 2048, Table: &four, With: []string{"salt", "true", "no"}}},
		{"cake", dish{Name: "a\nb\n", Side: &dish{Spicy: true}}},
	}}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got %+v", d)
	}
	if soup, ok := d.Dishes.Get("soup"); !ok || soup.Price != 7.5 || fmt.Sprint(d.Dishes.Names()) != "[soup cake]" {
		t.Errorf("soup is %+v, names are %v", soup, d.Dishes.Names())
	}
	for path, want := range map[string]string{
		"dishes.soup.price":     "m.yaml:3:29: dishes.soup.price: wrong; docs/reference/ingest.md describes the file",
		"dishes.soup.with.2":    "m.yaml:3:70: dishes.soup.with.2: wrong; docs/reference/ingest.md describes the file",
		"dishes.cake":           "m.yaml:4:3: dishes.cake: wrong; docs/reference/ingest.md describes the file",           // of the key
		"dishes.cake.side.name": "m.yaml:9:7: dishes.cake.side.name: wrong; docs/reference/ingest.md describes the file", // of what is written above it
		"drinks":                "m.yaml:1:1: drinks: wrong; docs/reference/ingest.md describes the file",
	} {
		if got := f.LocateAt(path, measure.TextError(measure.KindFile, "wrong", "")).Error(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestErrorsNameThePlaceAndWhatIsExpected(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "m.yaml:1:1: the file is empty; begin with dishes:"},
		{"# nothing\n", "m.yaml:1:1: the file is empty; begin with dishes:"},
		{"dishes: [", "m.yaml:1:9: not YAML: "},
		{"dishes: {}\n---\ndishes: {}\n", "m.yaml:3:1: a second document begins here; write one document a file"},
		{"- a\n", "m.yaml:1:1: expected keys with values, found a list; write it as name: value"},
		{"dihses: {}\n", `m.yaml:1:1: unknown key "dihses"; did you mean dishes? Known keys are dishes`},
		{"drinks: {}\n", `m.yaml:1:1: unknown key "drinks"; known keys are dishes`},
		{"dishes:\n  soup:\n    colour: red\n", `m.yaml:3:5: dishes.soup: unknown key "colour"; known keys are name, price, spicy, weight, table, with, side`},
		{"dishes: {soup: {name: [a]}}\n", "m.yaml:1:23: dishes.soup.name: expected a single value, found a list; docs/reference/ingest.md describes the file"},
		{"dishes: {soup: {with: a}}\n", `m.yaml:1:23: dishes.soup.with: expected a list, found "a"; write it as [a, b]`},
		{"dishes: {soup: }\n", "m.yaml:1:15: dishes.soup: expected keys with values, found nothing"},
		{"dishes: {soup: {price: much}}\n", `m.yaml:1:24: dishes.soup.price: expected a number, found "much"`},
		{"dishes: {soup: {price: .nan}}\n", `m.yaml:1:24: dishes.soup.price: expected a number, found ".nan"`},
		{"dishes: {soup: {price: 101}}\n", "m.yaml:1:24: dishes.soup.price: 101 is out of range; allowed: 0..100"},
		{"dishes: {soup: {table: 1.5}}\n", `m.yaml:1:24: dishes.soup.table: expected a whole number, found "1.5"`},
		{"dishes: {soup: {spicy: very}}\n", `m.yaml:1:24: dishes.soup.spicy: expected true or false, found "very"`},
		{"dishes: {soup: {weight: 3 stone}}\n", `m.yaml:1:25: dishes.soup.weight: size "3 stone"`},
		{"dishes: {[a]: {}}\n", "m.yaml:1:13: not YAML: "},
		{"dishes:\n  a: {}\n  a: {}\n", "m.yaml:3:3: "},
		{"dishes: &d {}\n", "m.yaml:1:9: dishes: YAML anchors and aliases are not allowed in such a file; write the value out"},
		{"dishes: {a: {name: *d}}\n", "m.yaml:1:20: dishes.a.name: YAML anchors and aliases are not allowed in such a file; write the value out"},
		{"dishes: {a: {name: " + strings.Repeat("long", 20) + ", naem: 1}}", `unknown key "naem"; did you mean name?`},
		{"dishes: {" + strings.Repeat("long", 20) + ": 1}", `found "1"`},
		{"#" + strings.Repeat("x", 64<<10), "m.yaml:1:1: the file has 65537 bytes; at most 65536 are read"},
	} {
		_, _, err := read(menu, c.text)
		if measure.KindOf(err) != measure.KindFile || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("for %.60q\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestDeepTextIsRefusedBeforeItIsParsed(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 60_000), strings.Repeat("{a: ", 15_000), strings.Repeat("- ", 30_000), strings.Repeat("? ", 30_000),
		strings.Repeat("- ! ", 15_000), strings.Repeat("- &a ", 12_000), strings.Repeat("-\t", 30_000),
		strings.Repeat("[", 18) + strings.Repeat("]", 18), "a:\n" + indented(17),
	} {
		for _, format := range []yamlfile.Format{menu, withAlso} {
			if _, err := yamlfile.Parse("m.yaml", []byte(text), format); err == nil || !strings.Contains(err.Error(), "values are nested too deeply for such a file") {
				t.Errorf("%.20q: %v", text, err)
			}
		}
	}
	for _, text := range []string{
		"# " + strings.Repeat("-", 200) + "\na: 1\n", "# " + strings.Repeat("- ", 100) + "\na: 1\n", "# " + strings.Repeat("*", 200) + "\na: 1\n",
		"a: " + strings.Repeat("-", 200) + "\n", "a:\n" + strings.Repeat("  - x\n", 200), strings.Repeat("[", 17) + strings.Repeat("]", 17),
	} {
		if _, err := yamlfile.Parse("m.yaml", []byte(text), menu); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// indented returns a mapping that is depth levels deep.
func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i+1))
	}
	return b.String() + strings.Repeat(" ", depth+1) + "b\n"
}

func TestAliasesStandForWhatTheyName(t *testing.T) {
	d, _, err := read(withAlso, `
dishes:
  soup: &soup {name: &n broth, price: 3, with: &w [salt]}
  stew:
    <<: *soup
    name: stew
  both: {<<: [{price: 1}, *soup], with: *w}
  last: {name: *n, price: !!float 4}
  ? next
  : {name: &n tea, side: {name: *n}}
`)
	if err != nil {
		t.Fatal(err)
	}
	salt := []string{"salt"}
	want := dishes{yamlfile.Ordered[dish]{
		{"soup", dish{Name: "broth", Price: 3, With: salt}},
		{"stew", dish{Name: "stew", Price: 3, With: salt}},
		{"both", dish{Name: "broth", Price: 1, With: salt}},
		{"last", dish{Name: "broth", Price: 4}},
		{"next", dish{Name: "tea", Side: &dish{Name: "tea"}}},
	}}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
	for text, want := range map[string]string{
		"dishes: {a: *b}\n":                       "m.yaml:1:13: dishes.a: alias *b: no value with the anchor &b ends before it; write the value out",
		"dishes: {a: &a {side: *a}}\n":            "dishes.a.side: alias *a: no value with the anchor &a ends before it",
		"dishes: &d {<<: *d}\n":                   "dishes: alias *d: no value with the anchor &d ends before it",
		"dishes: {a: *b, c: &b {}}\n":             "dishes.a: alias *b: no value",
		"dishes: {a: {<<: [1]}}\n":                `dishes.a: expected keys with values, found "1"`,
		"dishes: {a: &a {name: x}, b: {<<: a}}\n": `dishes.b: expected keys with values, found "a"`,
	} {
		if _, _, err := read(withAlso, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Aliases of aliases could stand for more than any memory holds.
func TestWhatAliasesStandForIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("dishes:\n  d0: &d0 {name: x}\n")
	for i := range 12 {
		fmt.Fprintf(&b, "  d%d: &d%d {side: *d%d, <<: [%s]}\n", i+1, i+1, i, strings.Repeat(fmt.Sprintf("*d%d, ", i), 9)+fmt.Sprintf("*d%d", i))
	}
	_, _, err := read(withAlso, b.String())
	if err == nil || !strings.Contains(err.Error(), "the file has more than 100000 values; write it without aliases") {
		t.Errorf("error is %v", err)
	}
}

func TestAnEmptyFileMaySayNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "null\n"} {
		if d, _, err := read(withAlso, text); err != nil || d.Dishes != nil {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
	}
}

func TestTheNearestWordIsFoundAndNoOther(t *testing.T) {
	known := []string{"duration", "direction", "rate", "rx", "a", "off", "16"}
	for word, want := range map[string]string{
		"durration": "duration", "duratoin": "duration", "Direction": "direction", "rat": "rate", "raet": "rate", "tx": "rx", "r": "rx", "xr": "rx",
		"window": "", "": "", "c": "", "on": "", "17": "", "rates!": "rate", strings.Repeat("duration", 100): "",
	} {
		if got := yamlfile.Nearest(word, known); got != want {
			t.Errorf("%.20q: %q, want %q", word, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("dishes: {soup: {name: x, price: 1}}\n", true)
	f.Add("dishes:\n  a: &a {with: [x]}\n  b: {<<: *a, side: *a}\n  ? c\n  : !!str d\n", true)
	f.Add("dishes: &x [*x]\n<<: {}\n? {}\n", false)
	f.Add(strings.Repeat("- ", 1000), false)
	f.Fuzz(func(t *testing.T, text string, aliases bool) {
		format := menu
		format.Aliases = aliases
		_, _, err := read(format, text)
		if err != nil && (measure.KindOf(err) != measure.KindFile || !strings.HasPrefix(err.Error(), "m.yaml:")) {
			t.Errorf("error without a place: %v", err)
		}
	})
}

func TestAFailureHasItsPlaceAndItsProblemAsData(t *testing.T) {
	f, err := yamlfile.Parse("m.yaml", []byte("dishes:\n  soup: {price: 1}\n"), menu)
	if err != nil {
		t.Fatal(err)
	}
	f.Mark("dishes.soup", yamlfile.Place{Line: 2, Column: 3})
	problem := measure.Fail(measure.KindUsage, "option.rate.unit", measure.Figures{"text": "5 parsecs"})
	e := f.LocateAt("dishes.soup.price", problem)
	if want := `m.yaml:2:3: dishes.soup.price: rate "5 parsecs": unknown unit; write for example 50M, 1.5G or 800kbit/s`; e.Error() != want {
		t.Errorf("got %s, want %s", e, want)
	}
	if e.Kind != measure.KindFile || e.Cause != problem || e.Figures["line"] != 2.0 || e.Figures["column"] != 3.0 || e.Figures["path"] != "dishes.soup.price" {
		t.Errorf("data is %+v", e)
	}
	if e := f.Locate(yamlfile.Start, "", measure.TextError(measure.KindFile, "burnt", "")); e.Error() != "m.yaml:1:1: burnt; docs/reference/ingest.md describes the file" {
		t.Errorf("with the hint of the format: %s", e)
	}
	e = f.FailAt("dishes.soup", "option.unknown_test", measure.Figures{"test": "x", "tests": []string{"tcp", "udp"}})
	if e.Error() != `m.yaml:2:3: unknown test "x"; tests are tcp, udp` || e.Cause.Code != "option.unknown_test" || e.Cause.Kind != measure.KindFile {
		t.Errorf("got %s: %+v", e, e.Cause)
	}
}
