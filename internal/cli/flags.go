package cli

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// addOptionFlags gives cmd a flag for every option of the test. The options are
// read over the defaults, so that an explicit zero differs from an absent flag.
func addOptionFlags(cmd *cobra.Command, test measure.Test, o *measure.Options) {
	flags := cmd.Flags()
	for _, f := range option.Fields(test) {
		help := f.HelpFor(test)
		if r := f.Range(); r != "" && !strings.Contains(help, r) {
			help += " (" + r + ")"
		}
		value := reflect.New(f.Type())
		value.Elem().Set(reflect.ValueOf(f.Value(o)))
		switch p := value.Interface().(type) {
		case pflag.Value:
			addUnitFlag(flags, p, f.Flag, f.Short, help)
		case *measure.Direction:
			flags.StringVarP((*string)(p), f.Flag, f.Short, string(*p), help)
		case *string:
			flags.StringVarP(p, f.Flag, f.Short, *p, help)
		case *int:
			flags.IntVarP(p, f.Flag, f.Short, *p, help)
		case *int64:
			flags.Int64VarP(p, f.Flag, f.Short, *p, help)
		case *float64:
			flags.Float64VarP(p, f.Flag, f.Short, *p, help)
		case *bool:
			flags.BoolVarP(p, f.Flag, f.Short, *p, help)
		default:
			panic(fmt.Sprintf("option %s has a type without a flag", f.Key))
		}
		flag := flags.Lookup(f.Flag)
		inGroup(flag, string(f.Group()))
		flag.Value = optionValue{flag.Value, func() error {
			if err := f.Edit(o, func(p any) error { reflect.ValueOf(p).Elem().Set(value.Elem()); return nil }); err != nil {
				return err
			}
			return f.Check(o)
		}}
		if f.Bare != "" {
			flag.NoOptDefVal = f.Bare
		}
		if len(f.Enum) > 0 {
			complete(cmd, f.Flag, completeValues(test, f, o))
		}
	}
	addOptionShorthands(flags, test, o)
}

// optionValue is the value of a flag that writes itself into the options when it is set.
type optionValue struct {
	pflag.Value
	write func() error
}

// Set implements pflag.Value.
func (v optionValue) Set(text string) error {
	if err := v.Value.Set(text); err != nil {
		return err
	}
	return v.write()
}

// addUnitFlag adds a flag of a value with a unit. Help passes over a default of 0,
// because its meaning is explained in words.
func addUnitFlag(flags *pflag.FlagSet, p pflag.Value, name, short, help string) {
	flag := flags.VarPF(p, name, short, help)
	if reflect.ValueOf(p).Elem().IsZero() {
		flag.DefValue = "0"
	}
}

// bareFlag is an option that was given without a value though it may have one, or
// empty: what follows it was meant for it, perhaps.
func bareFlag(cmd *cobra.Command, test measure.Test) string {
	for _, f := range option.Fields(test) {
		if flag := cmd.Flags().Lookup(f.Flag); f.Bare != "" && flag.Changed && flag.Value.String() == f.Bare {
			return f.Flag
		}
	}
	return ""
}

// contradiction is an error if several flags set the same option to different values.
func contradiction(flags *pflag.FlagSet) error {
	for _, group := range []struct {
		flags []string
		is    map[string]string // values that a flag stands for
	}{
		{[]string{"direction", "reverse", "bidir"}, map[string]string{"reverse": string(measure.Reverse), "bidir": string(measure.Bidirectional)}},
		{[]string{"ip-version", "ipv4", "ipv6"}, map[string]string{"ipv4": "4", "ipv6": "6"}},
	} {
		first, value := "", ""
		for _, name := range group.flags {
			flag := flags.Lookup(name)
			if flag == nil || !flag.Changed || flag.Value.Type() == "bool" && flag.Value.String() == "false" {
				continue
			}
			means, constant := group.is[name]
			if !constant {
				means = flag.Value.String()
			}
			if first != "" && means != value {
				return measure.Fail(measure.KindUsage, "cli.flags_contradict", measure.Figures{"first": first, "second": name, "option": group.flags[0]})
			}
			first, value = name, means
		}
	}
	return nil
}

// addOptionShorthands adds the flags that people's fingers know.
func addOptionShorthands(flags *pflag.FlagSet, test measure.Test, o *measure.Options) {
	constant := func(group option.Group, name, short, help string, set func()) {
		flags.BoolFuncP(name, short, help, func(text string) error {
			if text == "true" {
				set()
			}
			return nil
		})
		inGroup(flags.Lookup(name), string(group))
	}
	if option.SpecOf(test).Has("direction") {
		constant(option.GroupTest, "reverse", "R", "the server sends: --direction reverse", func() { o.Direction = measure.Reverse })
		constant(option.GroupTest, "bidir", "", "both at once: --direction bidirectional", func() { o.Direction = measure.Bidirectional })
	}
	constant(option.GroupNetwork, "ipv4", "4", "use only IPv4", func() { o.IPVersion = 4 })
	constant(option.GroupNetwork, "ipv6", "6", "use only IPv6", func() { o.IPVersion = 6 })
}
