package template

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"text/template"
	"time"
)

type unit int

func (u unit) String() string { return "unit " + strings.Repeat("i", int(u)) }

type inner struct{ Hop int }

type embedded struct{ *inner }

type page struct {
	embedded
	Title  string
	Names  []string
	Cells  [][]int
	Ratio  float64
	Count  uint16
	Unit   unit
	Span   *time.Duration
	None   *page
	Next   *page
	Absent []string
	Any    any
	Size   *int
	Levels map[string]int
	Large  uint64
	Signed int64
	hidden int
}

func data() page {
	span, size := 1500*time.Millisecond, 8
	return page{
		embedded: embedded{&inner{7}}, Title: `a<b>&"c"`, Names: []string{"x", "y", "z"}, Cells: [][]int{{1, 2}, {3}}, Ratio: 2.5, Count: 3,
		Unit: 2, Span: &span, Size: &size, Next: &page{Title: "next"}, Levels: map[string]int{"one": 1},
		Large: 1<<53 + 1, Signed: 1 << 53, hidden: 1,
	}
}

var functions = Functions{
	"twice":   func(n int) int { return 2 * n },
	"half":    func(v float64) float64 { return v / 2 },
	"join":    func(names []string) string { return strings.Join(names, "+") },
	"upper":   strings.ToUpper,
	"failed":  func() (string, error) { return "", errors.New("it failed") },
	"last":    func(prefix string, v any) string { return prefix + v.(string) },
	"nothing": func(v any) bool { return v == nil },
}

// text/template is the reference for what a template means.
func TestTemplatesMeanWhatTheyMeanToTextTemplate(t *testing.T) {
	for _, source := range []string{
		`plain text`, `{{/* nothing */}}a {{- " b " -}} c`, `{{.Title}} {{.Ratio}} {{.Count}} {{.Unit}} {{.Span}} {{.Hop}} {{.Any}} {{.Levels.one}} {{.Names}} {{.Cells}}`,
		`{{.None}}{{"text"}}{{1}}{{1.0}}{{1e3}}{{0x10}}{{twice 0x1e}}{{0x1p4}}{{'a'}}{{'e'}}{{true}}{{false}}{{-4}}`,
		`{{if .Title}}yes{{end}}{{if .None}}no{{else if .Absent}}no{{else if .Any}}no{{else}}none{{end}}`,
		`{{if .Ratio}}a{{end}}{{if 0}}b{{end}}{{if 0.0}}c{{end}}{{if ""}}d{{end}}{{if .Levels}}e{{end}}{{if .embedded}}{{end}}`,
		`{{with .Next}}{{.Title}} {{$.Title}}{{end}}{{with .None}}x{{else}}none{{end}}{{with $n := .Names}}{{len $n}}{{end}}{{with .None}}{{else with .Next}}{{.Title}}{{end}}`,
		`{{range .Names}}[{{.}}]{{else}}none{{end}}{{range .Absent}}x{{else}}none{{end}}{{range .Any}}x{{else}}nil{{end}}`,
		`{{range $i, $row := .Cells}}{{range $j, $cell := $row}}{{$i}}.{{$j}}={{$cell}} {{end}}{{end}}{{range $n := .Names}}{{$n}}{{.}}{{end}}`,
		`{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{$x = 3}}{{$x}}{{end}}{{$x}}{{if true}}{{$x = 4}}{{end}}{{$x}}{{range .Names}}{{$x = .}}{{end}}{{$x}}`,
		`{{$x := 1}}{{range $x = .Names}}{{$x}}{{end}}{{$x}}{{$i := 7}}{{range $i, $x = .Names}}{{$i}}{{end}}{{$i}}{{$x}}{{range $x = .Absent}}{{end}}{{$x}}`,
		`{{define "row"}}<{{.}}{{$}}>{{end}}{{range .Names}}{{template "row" .}}{{end}}{{template "row"}}{{template "row" .Next.Title}}`,
		`{{define "tree"}}{{.Title}}{{with .Next}}/{{template "tree" .}}{{end}}{{end}}{{template "tree" .}}`,
		`{{len .Names}}{{len .Title}}{{index .Names 1}}{{(index .Cells 0)}}{{index (index .Cells 0) 1}}{{(index .Names 0) | upper}}`,
		`{{eq 1 1}}{{eq .Title "x"}}{{eq .Title "x" "y"}}{{eq .Hop 6 7}}{{ne 1 2}}{{lt 1 2}}{{le 2 2}}{{gt 2.5 .Ratio}}{{ge .Ratio 2.5}}{{lt .Title "b"}}{{eq true false}}{{gt .Hop 8}}{{lt .Count 4}}`,
		`{{eq .Signed .Large}}{{lt .Signed .Large}}{{gt .Large .Signed}}{{le .Large .Signed}}{{lt -1 .Large}}{{lt .Large -1}}{{eq .Count 3}}{{ge 3 .Count}}`,
		`{{and .Title .Hop}}{{and .Any failed}}{{or .Title failed}}{{or .Any .Hop}}{{and 1}}{{or 0 ""}}{{not .Any}}{{not .Title}}{{and (eq .Hop 7) (not .None)}}`,
		`{{print 1 2 "a" .Hop}}{{printf "%.1f|%s|%d" .Ratio .Title .Hop}}{{printf "%q" .Unit}}`,
		`{{twice 4}}{{twice .Size}}{{.Size}}{{twice .Hop}}{{half 3}}{{half .Ratio}}{{join .Names}}{{upper "a" | printf "%s-%s" "b"}}{{"c" | last "d"}}{{nothing .Any}}{{nothing nil}}{{twice (len .Names)}}`,
		`{{.Next.Next.Title}}`, `{{.None.Title}}`, `{{failed}}`, `{{twice "a"}}`, `{{twice}}`, `{{twice 1 2}}`, `{{half .Title}}`, `{{.NoSuch}}`, `{{.hidden}}`, `{{index .Names 3}}`, `{{index .Names -1}}`,
		`{{len .Ratio}}`, `{{range .Ratio}}{{end}}`, `{{template "none"}}`, `{{.Title 1}}`, `{{lt "a" 1}}`, `{{join nil}}`, `{{twice nil}}`, `{{upper .Any}}`,
	} {
		var want, got strings.Builder
		reference, err := template.New("x").Funcs(template.FuncMap(functions)).Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		wantErr := reference.Execute(&want, data())
		parsed, err := Settings{Functions: functions}.Parse("x", source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		gotErr := parsed.Execute(&got, data())
		if (wantErr == nil) != (gotErr == nil) || got.String() != want.String() {
			t.Errorf("%s\ngives %q (%v),\nwant  %q (%v)", source, got.String(), gotErr, want.String(), wantErr)
		}
	}
}

func TestAKeyThatAMapLacksIsNilOrAnError(t *testing.T) {
	for _, c := range []struct {
		settings Settings
		want     string
	}{{Settings{}, "<no value>none"}, {Settings{Strict: true}, ""}} {
		parsed, err := c.settings.Parse("x", "{{.Absent}}{{if .Absent}}some{{else}}none{{end}}")
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err = parsed.Execute(&out, map[string]any{"Present": 1})
		if out.String() != c.want || (err != nil) != c.settings.Strict {
			t.Errorf("strict %v: %q, %v", c.settings.Strict, out.String(), err)
		}
	}
}

// A method would be called by a name that the linker does not know.
func TestAFieldIsNeverAMethod(t *testing.T) {
	parsed, err := Settings{}.Parse("x", "{{.Unit.String}}")
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Execute(&strings.Builder{}, data()); err == nil || !strings.Contains(err.Error(), "x:1") || !strings.Contains(err.Error(), "String") {
		t.Errorf("%v: want the place and the name", err)
	}
}

func TestValuesAreEscapedAndTheTemplateIsNot(t *testing.T) {
	parsed, err := Settings{Escape: EscapeHTML, Functions: Functions{"css": func() Verbatim { return "a>b" }}}.Parse("x", `<p title="{{.Title}}">{{css}}{{.Ratio}}{{"+'"}}`)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, data()); err != nil {
		t.Fatal(err)
	}
	if want := `<p title="a&lt;b&gt;&amp;&#34;c&#34;">a>b2.5&#43;&#39;`; out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
}

func TestFilesOfOneTemplateUseOneAnother(t *testing.T) {
	files := fstest.MapFS{"page": {Data: []byte(`{{template "chart" .Title}}.`)}, "charts": {Data: []byte(`{{define "chart"}}({{.}}){{end}}`)}}
	parsed, err := Settings{}.ParseFiles(files, "page", "charts")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, data()); err != nil || out.String() != `(a<b>&"c").` {
		t.Errorf("%s, %v", out.String(), err)
	}
	if _, err := (Settings{}).ParseFiles(files, "page", "none"); err == nil {
		t.Error("a file that is missing is no error")
	}
}

func TestWhatCannotBeParsedIsAnError(t *testing.T) {
	for _, source := range []string{"{{", "{{if}}", "{{unknown 1}}", "{{$x}}", "{{end}}"} {
		if _, err := (Settings{}).Parse("x", source); err == nil {
			t.Errorf("%s: no error", source)
		}
	}
}

// A stack that overflows would end the process.
func TestATemplateThatCallsItselfWithoutEndIsAnError(t *testing.T) {
	parsed, err := Settings{}.Parse("x", `{{define "self"}}{{template "self"}}{{end}}{{template "self"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Execute(&strings.Builder{}, nil); err == nil || !strings.Contains(err.Error(), "within one another") {
		t.Error(err)
	}
}

func TestAPanicOfAFunctionIsAnError(t *testing.T) {
	parsed, err := Settings{Functions: Functions{"broken": func() string { panic("broken") }}}.Parse("x", "{{broken}}")
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Execute(&strings.Builder{}, nil); err == nil {
		t.Error("no error")
	}
}
