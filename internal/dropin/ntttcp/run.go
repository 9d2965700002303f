package ntttcp

import (
	"context"

	"soku/internal/host"
	"soku/internal/measure"
)

// Run runs the options and prints as ntttcp does. notes are those of [Parse]. An
// interrupted test prints its figures and returns nil, as with ntttcp; if there are none
// yet, Run returns the cause of ctx's end. Other errors are a *measure.Error.
func Run(ctx context.Context, o *Options, notes []string, env Env) error {
	c, err := openConsole(env, o)
	if err != nil {
		return err
	}
	defer c.close()
	c.plain("NTTTCP for Linux 1.4.3 (soku %s)\n%s", env.Version, rule)
	if err := o.tryFiles(env); err != nil {
		return err
	}
	for _, n := range notes {
		c.info("%s", n)
	}
	if err := o.checkShown(); err != nil {
		return err
	}
	if o.Verbose {
		o.printOptions(c)
	}
	pins, err := affinity(o, c)
	if err != nil {
		return err
	}
	done := func(f *figures) error { return f.report(c, env) }
	if o.Receiver {
		return receive(ctx, o, c, pins, done)
	}
	f, err := send(ctx, o, c, pins)
	if f == nil {
		return err
	}
	if ctx.Err() != nil {
		err = nil
	}
	if reported := done(f); err == nil {
		err = reported
	}
	return err
}

// report prints the figures and writes the requested files.
func (f *figures) report(c *console, env Env) error {
	f.print(c)
	for _, file := range []struct {
		option, name string
		make         func(hostname string) ([]byte, error)
	}{{"-x", f.o.XMLFile, f.xml}, {"-j", f.o.JSONFile, f.json}} {
		if file.name == "" {
			continue
		}
		text, err := file.make(env.Hostname)
		if err == nil {
			err = env.WriteFile(file.name, text, 0o644)
		}
		if err != nil {
			return notWritten(file.option, err)
		}
	}
	return nil
}

// tryFiles fails if a requested file could not be written after the test.
func (o *Options) tryFiles(env Env) error {
	for option, name := range map[string]string{"-x": o.XMLFile, "-j": o.JSONFile} {
		if name == "" {
			continue
		}
		if err := env.TryWrite(name); err != nil {
			return notWritten(option, err)
		}
	}
	return nil
}

// notWritten is the error of a file that an option asks for.
func notWritten(option string, cause error) error {
	return measure.Fail(measure.KindStore, "dropin.ntttcp.file", measure.Figures{"option": option, "cause": cause})
}

// checkShown refuses counters that do not exist.
func (o *Options) checkShown() error {
	if o.ShowPackets != "" {
		if _, ok := host.Interfaces()[o.ShowPackets]; !ok {
			return fail("ntttcp.option.no_packets", measure.Figures{"interface": o.ShowPackets})
		}
	}
	if o.ShowInterrupts != "" {
		if _, ok := host.Interrupts(o.ShowInterrupts); !ok {
			return fail("ntttcp.option.no_interrupts", nil)
		}
	}
	if o.ShowRetransmits {
		if _, ok := host.ReadRetransmits(); !ok {
			return fail("ntttcp.option.no_retransmits", nil)
		}
	}
	return nil
}
