package advice

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// CommandFactor is the factor of a plan that [CommandPlan.Text] wrote: its levels are command
// lines.
const CommandFactor = "command"

// Command is a test as a person runs it by hand.
type Command struct {
	Line    string // as it was written; the name of its level
	Host    string
	Options measure.Options
}

// CommandPlan is a comparison of commands of one test: each is a pattern.
type CommandPlan struct {
	Test     measure.Test
	Commands []Command // two or more; no two with the same line
	Rounds   int
	Until    plan.Until // Interval, Decided with Against and MaxRounds; the zero value: no more rounds
	// Practical is the smallest difference that matters; 0: the plan does not say.
	Practical measure.Percent
}

// Name is the name of the campaign: the same for the same lines.
func (c *CommandPlan) Name() string {
	h := sha256.New()
	for i := range c.Commands {
		fmt.Fprintln(h, c.Commands[i].Line)
	}
	return fmt.Sprintf("versus-%s-%s", c.Test, hex.EncodeToString(h.Sum(nil)[:4]))
}

// Key identifies what a command measures, except its host: two with one key and one host measure
// the same.
func (c *Command) Key(test measure.Test) string {
	var key []string
	for _, f := range option.Fields(test) {
		key = append(key, f.Key+"="+optionText(f.Value(&c.Options)))
	}
	return strings.Join(key, "\n")
}

// Text is the plan. What all commands have in common are options of the test, what differs
// is set by the levels of one factor.
func (c *CommandPlan) Text() []byte {
	endpoints, shared := map[string]string{}, ""
	levels := make([]string, len(c.Commands))
	defaults := option.Defaults(c.Test)
	for _, f := range option.Fields(c.Test) {
		texts, differ := make([]string, len(c.Commands)), false
		for i := range c.Commands {
			texts[i] = optionText(f.Value(&c.Commands[i].Options))
			differ = differ || texts[i] != texts[0]
		}
		if !differ && texts[0] != optionText(f.Value(&defaults)) {
			shared += fmt.Sprintf(", %s: %s", f.Key, strconv.Quote(texts[0]))
		}
		for i := range levels {
			if differ {
				levels[i] += fmt.Sprintf(", %s: %s", f.Key, strconv.Quote(texts[i]))
			}
		}
	}
	var hosts, factor strings.Builder
	lines := make([]string, len(c.Commands))
	for i, command := range c.Commands {
		name, known := endpoints[command.Host]
		if !known {
			name = endpointName(command.Host, len(endpoints))
			endpoints[command.Host] = name
			fmt.Fprintf(&hosts, "  %s: {address: %s}\n", strconv.Quote(name), strconv.Quote(command.Host))
		}
		set := ""
		if levels[i] != "" {
			set = ", options: {" + levels[i][len(", "):] + "}"
		}
		fmt.Fprintf(&factor, "    - {name: %s, to: %s%s}\n", strconv.Quote(command.Line), strconv.Quote(name), set)
		lines[i] = command.Line
	}
	more := ""
	if c.Until.Adds() {
		more = "until: {" + strings.Join(untilKeys(&c.Until), ", ") + "}\n"
	}
	if c.Practical > 0 {
		more += fmt.Sprintf("practical: %s\n", c.Practical)
	}
	return fmt.Appendf(nil, "campaign: %s\ntitle: %s\nendpoints:\n%sfactors:\n  %s:\n%stests:\n  %s: {test: %s%s}\nrounds: %d\n%s",
		c.Name(), strconv.Quote(strings.Join(lines, " / ")), hosts.String(), CommandFactor, factor.String(), c.Test, c.Test, shared, c.Rounds, more)
}

// endpointName is the name of an endpoint with that address: its characters that names can
// have. number is how many endpoints there are before it.
func endpointName(host string, number int) string {
	name := strings.Map(func(r rune) rune {
		if plan.IsEndpointName("a" + string(r)) {
			return r
		}
		return '-'
	}, host)
	if plan.IsEndpointName(name) && name == host {
		return name
	}
	name = fmt.Sprintf("%s-%d", strings.Trim(name, "-_"), number+1)
	if !plan.IsEndpointName(name) {
		return fmt.Sprintf("host-%d", number+1)
	}
	return name
}

// optionText is an option's value as plans have it.
func optionText(v any) string {
	if m, ok := v.(interface{ MarshalYAML() ([]byte, error) }); ok {
		b, _ := m.MarshalYAML() // none of them fails
		return string(b)
	}
	return fmt.Sprint(v)
}

// untilKeys returns the keys of a plan's until that say when there are enough rounds.
func untilKeys(u *plan.Until) (out []string) {
	if u.Interval > 0 {
		out = append(out, fmt.Sprintf("interval: %s", u.Interval))
	}
	if u.Decided {
		out = append(out, "decided: true")
	}
	if u.Against != "" {
		out = append(out, fmt.Sprintf("against: %s", u.Against))
	}
	if u.MaxRounds > 0 {
		out = append(out, fmt.Sprintf("max_rounds: %d", u.MaxRounds))
	}
	return out
}
