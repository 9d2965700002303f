package advice_test

import (
	"reflect"
	"slices"
	"strconv"
	"testing"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestThePlanOfCommandsMeasuresWhatTheCommandsDo(t *testing.T) {
	for _, test := range measure.Tests() {
		for _, f := range option.Fields(test) {
			changed := option.Defaults(test)
			if err := f.Edit(&changed, otherValue(f)); err != nil {
				t.Fatal(err)
			}
			if _, err := option.Effective(changed, test); err != nil || f.Check(&changed) != nil {
				continue // needs another option, too
			}
			commands := []advice.Command{
				{Line: `plain "quoted" \ line`, Host: "10.0.0.4", Options: option.Defaults(test)},
				{Line: "other", Host: "10.0.0.4", Options: changed},
				{Line: "もう一つ", Host: "fe80::1%eth0", Options: changed},
			}
			for _, some := range [][]advice.Command{commands, commands[1:]} {
				c := advice.CommandPlan{Test: test, Rounds: 2, Commands: some}
				p, err := plan.Parse("plan.yaml", c.Text())
				if err != nil {
					t.Errorf("%s with %s: %v\n%s", test, f.Key, err, c.Text())
					continue
				}
				for i, pt := range p.AllPatterns() {
					want := some[i]
					if pt.Name != want.Line {
						t.Errorf("%s with %s: %q, want %q", test, f.Key, pt.Name, want.Line)
					}
					for _, o := range option.Fields(test) {
						if a, b := o.Value(&pt.Tests[0].Options), o.Value(&want.Options); a != b {
							t.Errorf("%s with %s: %s is %v, want %v", test, f.Key, o.Key, a, b)
						}
					}
				}
				for b := range schedule.Blocks(p, "", 1) {
					i := slices.IndexFunc(some, func(x advice.Command) bool { return x.Line == b.Pattern.Name })
					if got := b.Job(0).Server.Endpoint.Address; got != some[i].Host {
						t.Errorf("%s measures against %s, want %s", b.Pattern.Name, got, some[i].Host)
					}
				}
			}
		}
	}
}

// otherValue sets a value that is not the default.
func otherValue(f option.Field) func(p any) error {
	return func(p any) error {
		v := reflect.ValueOf(p).Elem()
		switch {
		case len(f.Enum) > 0 && v.Kind() == reflect.String:
			v.SetString(f.Enum[len(f.Enum)-1])
		case len(f.Enum) > 0:
			n, err := strconv.Atoi(f.Enum[len(f.Enum)-1])
			v.SetInt(int64(n))
			return err
		case v.Kind() == reflect.String:
			v.SetString("x-1")
		case v.Kind() == reflect.Bool:
			v.SetBool(!v.Bool())
		case v.CanInt():
			v.SetInt(v.Int() + 1001)
		case v.CanFloat():
			v.SetFloat(v.Float() + 0.125)
		}
		return nil
	}
}

func TestThePlanOfCommandsHasWhatDecides(t *testing.T) {
	o := option.Defaults(measure.TestTCP)
	c := advice.CommandPlan{Test: measure.TestTCP, Rounds: 9, Until: plan.Until{Interval: 0.025}, Practical: 0.03,
		Commands: []advice.Command{{Line: "tcp a", Host: "a", Options: o}, {Line: "tcp b", Host: "b", Options: o}}}
	p, err := plan.Parse("plan.yaml", c.Text())
	if err != nil || p.Rounds != 9 || p.Until.Interval != 0.025 || p.Practical != 0.03 {
		t.Errorf("%+v %v of\n%s", p, err, c.Text())
	}
}

func TestTheSameCommandsHaveOneCampaignName(t *testing.T) {
	many := option.Defaults(measure.TestTCP)
	many.Streams = 16
	command := func(line, host string, o measure.Options) advice.Command {
		return advice.Command{Line: line, Host: host, Options: o}
	}
	plan := func(rounds int, commands ...advice.Command) string {
		return (&advice.CommandPlan{Test: measure.TestTCP, Rounds: rounds, Commands: commands}).Name()
	}
	one := option.Defaults(measure.TestTCP)
	first := plan(10, command("tcp a", "a", one), command("tcp a -P 16", "a", many))
	if other := plan(20, command("tcp a", "a", one), command("tcp a -P 16", "a", many)); other != first {
		t.Errorf("%s and %s", first, other)
	}
	for _, other := range []string{
		plan(10, command("tcp b", "b", one), command("tcp a -P 16", "a", many)),
		plan(10, command("tcp a -P 16", "a", many), command("tcp a", "a", one)),
	} {
		if other == first {
			t.Errorf("other commands have the name %s, too", other)
		}
	}
}
