package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
	"soku/internal/yamlfile"
)

// errorText is the sentence of an error for a person, on one line.
func errorText(c *text.Catalogue, err error) string { return printable.Words(c.Failure(err)) }

// printError writes the line with which a command says why it failed.
func printError(c *text.Catalogue, w io.Writer, err error) {
	fmt.Fprintln(w, c.Sentence("failure.line", text.Args{"Error": errorText(c, err)}))
}

// exitStatus gives each kind of failure its status; docs/reference/exit-codes.md
// lists them and a test holds the two together.
var exitStatus = map[measure.Kind]int{
	measure.KindInternal:    1,
	measure.KindUsage:       2,
	measure.KindFile:        3,
	measure.KindUnreachable: 4,
	measure.KindRefused:     5,
	measure.KindBroken:      6,
	measure.KindStore:       7,
	measure.KindPermission:  8,
	measure.KindNotFound:    9,
	measure.KindIncomplete:  10,
	measure.KindNotHeld:     11,
	measure.KindNotShown:    12,
	measure.KindInterrupted: 130,
}

// status is the exit status for an error: 0 if err is nil.
func status(err error) int {
	if err == nil {
		return 0
	}
	var e *measure.Error
	if !errors.As(err, &e) && errors.Is(err, context.Canceled) {
		return exitStatus[measure.KindInterrupted]
	}
	if s, ok := exitStatus[measure.KindOf(err)]; ok {
		return s
	}
	return 1
}

// flagError is an error of the flags of a command, with what to do next. A word before the flags
// that is no command is reported instead: the flags are those of the command that was meant.
func flagError(cmd *cobra.Command, err error) error {
	if !cmd.HasParent() && cmd.Flags().NArg() > 0 {
		return unknownCommand(cmd, cmd.Flags().Arg(0))
	}
	e := measure.AsError(err, measure.KindUsage)
	if e.Hint != "" {
		return e
	}
	if number := numberError(err); number != nil {
		e = number
	}
	command := measure.Figures{"command": cmd.CommandPath()}
	if instead := insteadOf(cmd, err); instead != "" {
		command["instead"] = instead
		return e.WithHintCode("instead_flag", command)
	}
	if near := similarFlag(cmd, err); near != "" {
		command["flag"] = near
		return e.WithHintCode("similar_flag", command)
	}
	return e.WithHintCode("see_help", command)
}

// numberError is an error of a flag whose value is no number, or nil: the standard library
// writes those for programmers.
func numberError(err error) *measure.Error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return nil
	}
	return measure.Fail(measure.KindUsage, "cli.flag_number", measure.Figures{
		"flag": invalid.GetFlag().Name, "text": invalid.GetValue(), "type": invalid.GetFlag().Value.Type(), "large": strconv.FormatBool(errors.Is(err, strconv.ErrRange)),
	})
}

// similarFlag is the flag of the command that an unknown one may have meant, or empty.
func similarFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return yamlfile.Nearest(unknown.GetSpecifiedName(), names)
}

// familiar are flags that people know from ping, iperf3 and other commands of soku, which a
// command does not have, and what does the same.
var familiar = []struct {
	commands, flags []string
	instead         string
}{
	{[]string{"soku"}, []string{"s", "server"}, "soku server"},
	{[]string{"soku"}, []string{"c", "client"}, "soku tcp HOST"},
	{[]string{"soku"}, []string{"V"}, "--version"},
	{[]string{"report"}, []string{"json"}, "--format json"},
	{[]string{"run"}, []string{"json"}, "--report FILE.json"},
	{[]string{"tcp", "udp", "connect", "copy", "mtu"}, []string{"fail-above"}, "--fail-below"},
	{[]string{"latency", "ping", "trace"}, []string{"fail-below"}, "--fail-above"},
	{[]string{"server"}, []string{"p", "port"}, "--listen :PORT"},
	{[]string{"tcp"}, []string{"u", "udp"}, "soku udp HOST"},
	{[]string{"latency"}, []string{"u", "udp"}, "--protocol udp"},
	{[]string{"ping", "latency", "connect"}, []string{"n"}, "--count"},
	{[]string{"tcp", "udp"}, []string{"c", "client"}, "the host without a flag"},
	{[]string{"tcp", "udp"}, []string{"parallel"}, "--streams"},
	{[]string{"tcp", "udp"}, []string{"bitrate", "bandwidth"}, "--rate"},
	{[]string{"tcp", "udp", "latency", "connect", "ping"}, []string{"time"}, "--duration"},
}

// insteadOf is what the command has in place of an unknown flag that is familiar, or empty.
func insteadOf(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	for _, f := range familiar {
		if slices.Contains(f.commands, cmd.Name()) && slices.Contains(f.flags, unknown.GetSpecifiedName()) {
			return f.instead
		}
	}
	return ""
}
