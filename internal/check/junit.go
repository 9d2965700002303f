package check

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"soku/internal/printable"
	"soku/internal/text"
)

// JUnit is the outcome as JUnit XML: a test case for each rule and pattern. One that does not
// hold is a failure, one that is not shown an error, so that neither passes for success.
func (o *Outcome) JUnit() []byte {
	var cases bytes.Buffer
	tests, failures, errors := 0, 0, 0
	for i := range o.Rules {
		v := ruleView{&o.Rules[i], text.ForPrograms()}
		for j := range v.Patterns {
			p := &v.Patterns[j]
			tests++
			fmt.Fprintf(&cases, "    <testcase classname=%s name=%s>\n", attribute(v.name()), attribute(v.pattern(p)))
			switch p.Verdict {
			case DoesNotHold:
				failures++
				fmt.Fprintf(&cases, "      <failure type=\"%s\" message=%s></failure>\n", p.Verdict, attribute(v.Check.Text+": "+v.measured(p)))
			case NotShown:
				errors++
				fmt.Fprintf(&cases, "      <error type=\"%s\" message=%s></error>\n", p.Verdict, attribute(v.Check.Text+": "+v.measured(p)))
			default:
				fmt.Fprintf(&cases, "      <system-out>%s</system-out>\n", escaped(v.measured(p)))
			}
			cases.WriteString("    </testcase>\n")
		}
	}
	counts := fmt.Sprintf("tests=\"%d\" failures=\"%d\" errors=\"%d\"", tests, failures, errors)
	return fmt.Appendf(nil, "%s<testsuites name=\"soku check\" %s>\n  <testsuite name=%s %s>\n%s  </testsuite>\n</testsuites>\n",
		xml.Header, counts, attribute(o.Subject), counts, cases.String())
}

// attribute is a text from elsewhere as the value of an attribute, in quotes.
func attribute(s string) string { return `"` + escaped(s) + `"` }

// escaped is a text from elsewhere without markup and control characters.
func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(printable.Line(s))) // a buffer takes all
	return b.String()
}
