package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/text"
)

// asking puts questions to the person at the terminal.
type asking struct {
	sys *System
	in  *bufio.Reader
}

// ask puts a question until take accepts the answer, and says each time what is wrong.
func (a asking) ask(ctx context.Context, question string, take func(answer string) error) error {
	for {
		fmt.Fprint(a.sys.Stderr, question, " ")
		answer, err := nextLine(ctx, a.in)
		if answer = strings.TrimSpace(answer); err != nil && answer == "" {
			fmt.Fprintln(a.sys.Stderr)
			if ctx.Err() == nil {
				err = measure.Fail(measure.KindInterrupted, "cli.new.ended", nil)
			}
			return err
		}
		wrong := take(answer)
		if wrong == nil {
			return nil
		}
		printError(a.sys.Catalogue, a.sys.Stderr, wrong)
	}
}

// askDraft asks for what the flags left open.
func askDraft(ctx context.Context, sys *System, given func(flag string) bool, d *advice.Draft) error {
	a := asking{sys, bufio.NewReader(sys.Stdin)}
	c := sys.Catalogue
	if !given("question") {
		if err := a.ask(ctx, c.Sentence("new.question", nil), func(answer string) error { d.Question = answer; return nil }); err != nil {
			return err
		}
	}
	if !given("host") {
		err := a.ask(ctx, c.Sentence("new.hosts", nil), func(answer string) error {
			for _, h := range parts(answer) {
				d.Hosts = append(d.Hosts, advice.DraftHostOf(h, len(d.Hosts)+1))
			}
			return a.check(*d, func() { d.Hosts = nil })
		})
		if err != nil {
			return err
		}
	}
	if !given("test") {
		var names []string
		for _, test := range measure.Tests() {
			names = append(names, string(test))
		}
		err := a.ask(ctx, c.Sentence("new.tests", text.Args{"Tests": names}), func(answer string) (err error) {
			d.Tests, err = testsOf(parts(answer))
			return err
		})
		if err != nil {
			return err
		}
	}
	if !given("vary") {
		if err := a.askFactors(ctx, d); err != nil {
			return err
		}
	}
	if given("rounds") {
		return nil
	}
	return a.ask(ctx, c.Sentence("new.rounds", text.Args{"Rounds": d.Rounds}), func(answer string) error {
		if answer == "" {
			return nil
		}
		before := d.Rounds
		var err error
		if d.Rounds, err = strconv.Atoi(answer); err != nil {
			d.Rounds = -1
		}
		return a.check(*d, func() { d.Rounds = before })
	})
}

// askFactors asks what is varied, one after another, until an answer is empty.
func (a asking) askFactors(ctx context.Context, d *advice.Draft) error {
	c := a.sys.Catalogue
	for {
		var f advice.DraftFactor
		question := c.Sentence("new.factor", text.Args{"More": len(d.Factors) > 0})
		if err := a.ask(ctx, question, func(answer string) error { f.Name = answer; return nil }); err != nil || f.Name == "" {
			return err
		}
		if !d.HasOption(f.Name) {
			if err := a.ask(ctx, c.Sentence("new.command", text.Args{"Variable": plan.FactorVariable(f.Name)}), func(answer string) error { f.Command = answer; return nil }); err != nil {
				return err
			}
		}
		err := a.ask(ctx, c.Sentence("new.levels", text.Args{"Factor": f.Name}), func(answer string) error {
			f.Levels = parts(answer)
			d.Factors = append(d.Factors, f)
			return a.check(*d, func() { d.Factors = d.Factors[:len(d.Factors)-1] })
		})
		if err != nil {
			return err
		}
	}
}

// check sees that the plan loads with what it has so far; else it calls undo.
func (a asking) check(d advice.Draft, undo func()) error {
	if len(d.Tests) == 0 {
		d.Tests = []measure.Test{measure.TestTCP}
	}
	_, err := d.Plan()
	if err != nil {
		undo()
	}
	return err
}
