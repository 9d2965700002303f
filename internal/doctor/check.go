package doctor

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
)

// Severity is how much a finding takes from a measurement.
type Severity string

// Severities.
const (
	Problem Severity = "problem" // it will spoil the figure
	Warning Severity = "warning" // it may limit or disturb
	Note    Severity = "note"    // good to know
)

// Reason is why a check did not look.
type Reason string

// Reasons.
const (
	OtherSystem   Reason = "other_system"   // this system does not report it
	Unreadable    Reason = "unreadable"     // it could not be read
	NeedsRights   Reason = "needs_rights"   // only root may read it
	NotReported   Reason = "not_reported"   // the server does not report it
	NotApplicable Reason = "not_applicable" // there is nothing of the kind
	NoRate        Reason = "no_rate"        // no rate is wanted, and that of the link is unknown
	NoRoundTrip   Reason = "no_round_trip"  // the round trip is unknown
	NoInterface   Reason = "no_interface"   // it is unknown which interface packets take
	NotReached    Reason = "not_reached"    // the far end did not answer
	NoEcho        Reason = "no_echo"        // the far end does not answer echo requests
)

// Group is what a check is about.
type Group string

// Groups.
const (
	GroupPath      Group = "path"
	GroupClock     Group = "clock"
	GroupUse       Group = "use"
	GroupLimits    Group = "limits"
	GroupInterface Group = "interface"
	GroupKernel    Group = "kernel"
)

// Check looks at one thing. Its findings have its severity and confidence unless they state
// their own.
type Check struct {
	Code       string
	Group      Group
	Severity   Severity
	Confidence measure.Confidence
	Look       func(*Subject) Outcome
}

// Outcome of a check: what it found, nothing where all is well, or why it did not look.
type Outcome struct {
	Findings []Finding
	Not      Reason
}

// Finding is something that will or may spoil a measurement.
type Finding struct {
	Code       string             `json:"code" jsonschema:"description=The check; see docs/reference/doctor.md"`
	Group      Group              `json:"group" jsonschema:"enum=path,enum=clock,enum=use,enum=limits,enum=interface,enum=kernel"`
	Severity   Severity           `json:"severity" jsonschema:"enum=problem,enum=warning,enum=note"`
	Confidence measure.Confidence `json:"confidence" jsonschema:"enum=high,enum=medium,enum=low"`
	Figures    measure.Figures    `json:"figures,omitempty" jsonschema:"description=Units are in the key"`
	Commands   []string           `json:"commands,omitempty" jsonschema:"description=What mends it"`
	Undo       []string           `json:"undo,omitempty" jsonschema:"description=What restores it"`
	Cause      *measure.Error     `json:"cause,omitempty" jsonschema:"description=The failure that it was found by"`
	Changes    []Change           `json:"-"` // what Fix does; its commands are Commands
}

var well Outcome

func not(why Reason) Outcome { return Outcome{Not: why} }

// aboveAs is the severity of a figure that is at least most, or empty for that of the check.
func aboveAs(figure, most float64, severity Severity) Severity {
	if figure >= most {
		return severity
	}
	return ""
}

func found(f Finding) Outcome { return Outcome{Findings: []Finding{f}} }

// Checks are those of a host, at either end, in the order in which they are shown. To add one,
// add it to the table of its group, and its sentences to text/messages/doctor.en.json.
var Checks = slices.Concat(clockChecks, useChecks, limitChecks, interfaceChecks, kernelChecks)

// Subject is what checks look at.
type Subject struct {
	Readings
	Wanted
	Path *Path // for PathChecks
}

// Examine looks at a subject. Findings are sorted by severity.
func Examine(checks []Check, s *Subject) End {
	end := End{Findings: []Finding{}, Passed: []string{}, NotLooked: []NotLooked{}}
	for _, c := range checks {
		o := c.Look(s)
		switch {
		case o.Not != "":
			end.NotLooked = append(end.NotLooked, NotLooked{c.Code, o.Not})
		case len(o.Findings) == 0:
			end.Passed = append(end.Passed, c.Code)
		}
		for _, f := range o.Findings {
			f.Code, f.Group = c.Code, c.Group
			f.Severity, f.Confidence = cmp.Or(f.Severity, c.Severity), cmp.Or(f.Confidence, c.Confidence)
			for _, change := range f.Changes {
				f.Commands = append(f.Commands, change.Command())
				f.Undo = append(f.Undo, change.reversed().Command())
			}
			if s.Far {
				f.Commands, f.Undo = slices.DeleteFunc(f.Commands, compound), slices.DeleteFunc(f.Undo, compound)
			}
			end.Findings = append(end.Findings, f)
		}
	}
	order := []Severity{Problem, Warning, Note}
	slices.SortStableFunc(end.Findings, func(a, b Finding) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	return end
}

// compound reports whether a shell would take a command for more than one. Names in those for
// the far end are the server's, and a person may type them.
func compound(command string) bool {
	return strings.ContainsAny(command, ";|&$`\\'()<>*?!#~{}[]\n")
}

// missing is why a reading is not there.
func (s *Subject) missing() Reason {
	switch {
	case s.Far:
		return NotReported
	case s.Facts.OS != linux:
		return OtherSystem
	}
	return Unreadable
}

const linux = "linux"
