package report

import (
	htmltemplate "html/template"
	"io"
	"strings"
	"testing"
	"text/template/parse"

	"soku/internal/template"
	"soku/internal/text"
)

// analysedPage is the page's template as html/template reads it: with an escaper after each
// value, for the place in the page where the value stands.
func analysedPage(t *testing.T) *htmltemplate.Template {
	t.Helper()
	functions, err := pageFunctions(text.English())
	if err != nil {
		t.Fatal(err)
	}
	css := functions["css"].(func() template.Verbatim)
	functions["css"] = func() htmltemplate.CSS { return htmltemplate.CSS(css()) }
	page, err := htmltemplate.New("report.html.tmpl").Funcs(htmltemplate.FuncMap(functions)).
		ParseFS(pageFiles, "templates/report.html.tmpl", "templates/chart.svg.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// Values are escaped alike wherever they stand, so they may stand only where that is enough.
func TestThePageWritesValuesOnlyAsTextAndInQuotedAttributes(t *testing.T) {
	page := analysedPage(t)
	if err := page.Execute(io.Discard, newView(build(t, campaignWithFailure()), text.English()).withCharts()); err != nil {
		t.Fatal(err)
	}
	enough := map[string]bool{"_html_template_htmlescaper": true, "_html_template_attrescaper": true, "_html_template_rcdataescaper": true}
	except := map[string]string{
		"{{css | _html_template_cssvaluefilter}}":                          "a file of the program",
		"{{.ID | _html_template_urlescaper | _html_template_attrescaper}}": "behind # in the address of a link, where no scheme can begin",
	}
	values := 0
	for _, part := range page.Templates() {
		if part.Tree == nil {
			continue
		}
		eachAction(part.Tree.Root, func(n *parse.ActionNode) {
			if len(n.Pipe.Decl) > 0 {
				return
			}
			values++
			escapers := 0
			for _, c := range n.Pipe.Cmds {
				name, ok := c.Args[0].(*parse.IdentifierNode)
				if !ok || !strings.HasPrefix(name.Ident, "_html_template_") {
					continue
				}
				escapers++
				if !enough[name.Ident] && except[n.String()] == "" {
					t.Errorf("%s: %s needs %s there, which the page does not have: write the value as text or in an attribute with quotes", part.Name(), n, name.Ident)
				}
			}
			if escapers == 0 {
				t.Errorf("%s: %s was not looked at", part.Name(), n)
			}
		})
	}
	if values < 100 {
		t.Errorf("looked at %d values", values)
	}
}

// html/template escapes for the place of each value: its page is the same, byte for byte.
func TestThePageIsEscapedAsHTMLTemplateDoes(t *testing.T) {
	for _, evil := range []string{
		`<script>alert(1)</script><img src=x onerror=alert(1)>"' onload="x" </title></style></svg>{{.}}`,
		"javascript:alert(1)//\x00\t+&amp;`<!-- --><![CDATA[ expression(1) url(x)",
	} {
		r := hostile(t, evil)
		var want strings.Builder
		if err := analysedPage(t).Execute(&want, newView(r, text.English()).withCharts()); err != nil {
			t.Fatal(err)
		}
		if got := written(t, inEnglish(r.HTML)); got != want.String() {
			at := 0
			for at < min(len(got), want.Len()) && got[at] == want.String()[at] {
				at++
			}
			from := max(0, at-60)
			t.Errorf("%q, html/template has %q", got[from:min(len(got), at+60)], want.String()[from:min(want.Len(), at+60)])
		}
	}
}

// eachAction visits the values that a template writes.
func eachAction(l *parse.ListNode, visit func(*parse.ActionNode)) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		var b *parse.BranchNode
		switch n := n.(type) {
		case *parse.ActionNode:
			visit(n)
		case *parse.IfNode:
			b = &n.BranchNode
		case *parse.WithNode:
			b = &n.BranchNode
		case *parse.RangeNode:
			b = &n.BranchNode
		}
		if b != nil {
			eachAction(b.List, visit)
			eachAction(b.ElseList, visit)
		}
	}
}
