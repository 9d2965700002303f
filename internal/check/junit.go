package check

import (
	"encoding/xml"

	"soku/internal/printable"
	"soku/internal/text"
)

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"` // the rule
	Name    string        `xml:"name,attr"`      // test and pattern
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
}

// JUnit is the outcome as JUnit XML: a test case for each rule and pattern. One that does not
// hold is a failure, one that is not shown an error, so that neither passes for success.
func (o *Outcome) JUnit() ([]byte, error) {
	suite := junitSuite{Name: printable.Line(o.Subject)}
	for i := range o.Rules {
		v := ruleView{&o.Rules[i], text.ForPrograms()}
		for _, p := range v.Patterns {
			measured := printable.Line(v.measured(p))
			problem := &junitProblem{printable.Line(v.Check.Text) + ": " + measured, string(p.Verdict)}
			c := junitCase{Class: printable.Line(v.name()), Name: printable.Line(v.pattern(p))}
			switch p.Verdict {
			case DoesNotHold:
				suite.Failures++
				c.Failure = problem
			case NotShown:
				suite.Errors++
				c.Error = problem
			default:
				c.Output = measured
			}
			suite.Cases = append(suite.Cases, c)
		}
	}
	suite.Tests = len(suite.Cases)
	b, err := xml.MarshalIndent(junitSuites{Name: "soku check", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Suite: suite}, "", "  ")
	return append([]byte(xml.Header), append(b, '\n')...), err
}
