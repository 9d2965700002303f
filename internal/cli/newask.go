package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/text"
)

// asking puts questions to the person at the terminal. The answers alone decide which questions
// there are, so to go back is to take all answers but the last again.
type asking struct {
	sys     *System
	in      *bufio.Reader
	answers []answer // accepted
	asked   int      // questions of this pass
	resumed bool     // the answers are from a file, and are shown
	ended   string   // the code of the error for an input that ends before the answers
}

// answer is one that was accepted, with the key of its question.
type answer struct{ question, text string }

// errBack asks for the question before.
var errBack = errors.New("back")

// errAgain asks the same question again.
var errAgain = errors.New("again")

// askDraft asks for what the flags left open. If the person ends it, the answers stay in a file,
// with which it goes on the next time.
func askDraft(ctx context.Context, sys *System, given func(flag string) bool, d *advice.Draft) error {
	a := &asking{sys: sys, in: bufio.NewReader(sys.Stdin), ended: "cli.new.ended"}
	file := answersFile(*d)
	fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("new.keys", nil))
	if err := a.read(file); err != nil {
		return err
	}
	for {
		draft := *d
		a.asked = 0
		switch err := a.all(ctx, given, &draft); {
		case errors.Is(err, errBack):
			a.resumed = false
		case err != nil:
			a.keep(file)
			return err
		default:
			*d = draft
			return nil
		}
	}
}

// answersFile has the answers for a plan that is not written yet.
func answersFile(d advice.Draft) string { return d.File + ".answers" }

// read takes the answers in a file, if there is one.
func (a *asking) read(file string) error {
	data, err := a.sys.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return measure.AsError(err, measure.KindFile)
	}
	for line := range strings.Lines(string(data)) {
		if question, text, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			a.answers = append(a.answers, answer{"new." + question, strings.TrimSpace(text)})
		}
	}
	if a.resumed = len(a.answers) > 0; a.resumed {
		fmt.Fprintln(a.sys.Stderr, a.sys.Catalogue.Sentence("new.resumed", text.Args{"File": file}))
	}
	return nil
}

// keep writes the answers to a file.
func (a *asking) keep(file string) {
	if len(a.answers) == 0 {
		return
	}
	var b strings.Builder
	for _, known := range a.answers {
		fmt.Fprintf(&b, "%s: %s\n", strings.TrimPrefix(known.question, "new."), known.text)
	}
	if err := a.sys.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		printError(a.sys.Catalogue, a.sys.Stderr, notWritten(file, err))
		return
	}
	fmt.Fprintln(a.sys.Stderr, a.sys.Catalogue.Sentence("new.kept", text.Args{"File": file}))
}

// ask puts a question until take accepts the answer, and says each time what is wrong.
func (a *asking) ask(ctx context.Context, question text.Line, take func(answer string) error) error {
	c := a.sys.Catalogue
	if a.asked < len(a.answers) {
		known := a.answers[a.asked]
		if known.question == question.Key && take(known.text) == nil {
			if a.asked++; a.resumed {
				fmt.Fprintln(a.sys.Stderr, c.SentenceOf(question), known.text)
			}
			return nil
		}
		a.answers = a.answers[:a.asked] // the rest does not fit the flags
	}
	return a.put(ctx, c.SentenceOf(question), func(line string) error {
		switch {
		case line == "?":
			help := c.Sentence("new.help."+strings.TrimPrefix(question.Key, "new."), nil)
			fmt.Fprintln(a.sys.Stderr, strings.Join(broken(help, a.sys.Width()), "\n"))
			return errAgain
		case line == "back" && len(a.answers) > 0:
			a.answers = a.answers[:len(a.answers)-1]
			return errBack
		}
		err := take(line)
		if err == nil {
			a.answers = append(a.answers, answer{question.Key, line})
			a.asked++
		}
		return err
	})
}

// put asks until take accepts a line, or returns [errBack], and says each time what is wrong.
func (a *asking) put(ctx context.Context, question string, take func(line string) error) error {
	for {
		fmt.Fprint(a.sys.Stderr, question, " ")
		line, err := nextLine(ctx, a.in)
		if line = strings.TrimSpace(line); err != nil && line == "" {
			fmt.Fprintln(a.sys.Stderr)
			if ctx.Err() == nil {
				err = measure.Fail(measure.KindInterrupted, a.ended, nil)
			}
			return err
		}
		switch wrong := take(line); {
		case wrong == nil, errors.Is(wrong, errBack):
			return wrong
		case !errors.Is(wrong, errAgain):
			printError(a.sys.Catalogue, a.sys.Stderr, wrong)
		}
	}
}

// all asks every question whose flag is not given.
func (a *asking) all(ctx context.Context, given func(flag string) bool, d *advice.Draft) error {
	for _, step := range []struct {
		flag string
		ask  func(context.Context, *advice.Draft) error
	}{
		{"question", a.askQuestion}, {"host", a.askHosts}, {"test", a.askTests}, {"vary", a.askFactors}, {"rounds", a.askRounds},
	} {
		if given(step.flag) {
			continue
		}
		if err := step.ask(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (a *asking) askQuestion(ctx context.Context, d *advice.Draft) error {
	return a.ask(ctx, text.Line{Key: "new.question"}, func(answer string) error { d.Question = answer; return nil })
}

func (a *asking) askHosts(ctx context.Context, d *advice.Draft) error {
	return a.ask(ctx, text.Line{Key: "new.hosts"}, func(answer string) error {
		for _, h := range parts(answer) {
			d.Hosts = append(d.Hosts, advice.DraftHostOf(h, len(d.Hosts)+1))
		}
		if len(d.OpenFactors()) > 0 {
			return nil // their levels are asked for
		}
		return a.check(*d, func() { d.Hosts = nil })
	})
}

func (a *asking) askTests(ctx context.Context, d *advice.Draft) error {
	var names []string
	for _, test := range measure.Tests() {
		names = append(names, string(test))
	}
	return a.ask(ctx, text.Line{Key: "new.tests", Args: text.Args{"Tests": names}}, func(answer string) (err error) {
		d.Tests, err = testsOf(parts(strings.ReplaceAll(answer, " ", ",")))
		return err
	})
}

func (a *asking) askRounds(ctx context.Context, d *advice.Draft) error {
	return a.ask(ctx, text.Line{Key: "new.rounds", Args: text.Args{"Rounds": d.Rounds}}, func(answer string) error {
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

// askFactors asks what is varied until an answer is empty. An answer may have several factors.
func (a *asking) askFactors(ctx context.Context, d *advice.Draft) error {
	for _, name := range d.OpenFactors() {
		if err := a.askFactor(ctx, d, advice.DraftFactor{Name: name}); err != nil {
			return err
		}
	}
	for {
		var factors []advice.DraftFactor
		err := a.ask(ctx, text.Line{Key: "new.factor", Args: text.Args{"More": len(d.Factors) > 0}}, func(answer string) (err error) {
			if factors, err = factorsOf(answer); err != nil {
				return err
			}
			with := *d
			for _, f := range factors {
				if len(f.Levels) > 0 {
					with.Factors = append(with.Factors[:len(with.Factors):len(with.Factors)], f)
				}
			}
			return a.check(with, func() {})
		})
		if err != nil || len(factors) == 0 {
			return err
		}
		for _, f := range factors {
			if err := a.askFactor(ctx, d, f); err != nil {
				return err
			}
		}
	}
}

// askFactor asks how a factor is set and, if they are not known, for its levels.
func (a *asking) askFactor(ctx context.Context, d *advice.Draft, f advice.DraftFactor) error {
	if !d.HasOption(f.Name) && !slices.Contains(d.HostFactors(), f.Name) {
		question := text.Line{Key: "new.command", Args: text.Args{"Factor": f.Name, "Variable": plan.FactorVariable(f.Name)}}
		if err := a.ask(ctx, question, func(answer string) error { f.Command = answer; return nil }); err != nil {
			return err
		}
	}
	if len(f.Levels) > 0 {
		d.Factors = append(d.Factors, f)
		return nil
	}
	return a.ask(ctx, text.Line{Key: "new.levels", Args: text.Args{"Factor": f.Name}}, func(answer string) error {
		f.Levels = parts(answer)
		with := *d
		with.Factors = append(with.Factors[:len(with.Factors):len(with.Factors)], f)
		if len(with.OpenFactors()) == 0 {
			if err := a.check(with, func() {}); err != nil {
				return err
			}
		}
		*d = with
		return nil
	})
}

// factorsOf reads names with commas between them, or NAME=LEVEL,LEVEL with spaces or semicolons
// between several.
func factorsOf(answer string) (out []advice.DraftFactor, err error) {
	if !strings.Contains(answer, "=") {
		for _, name := range parts(answer) {
			out = append(out, advice.DraftFactor{Name: name})
		}
		return out, nil
	}
	sides := strings.Split(strings.ReplaceAll(answer, ";", " "), "=")
	for i := range sides {
		sides[i] = strings.TrimSpace(sides[i])
	}
	var texts []string
	for _, word := range strings.Fields(strings.Join(sides, "=")) {
		if n := len(texts); n > 0 && !strings.Contains(word, "=") { // a level may have spaces
			texts[n-1] += " " + word
			continue
		}
		texts = append(texts, word)
	}
	for _, text := range texts {
		f, err := varied(text)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// check sees that the plan loads with what it has so far; otherwise it calls undo.
func (a *asking) check(d advice.Draft, undo func()) error {
	if len(d.Tests) == 0 {
		d.Tests = []measure.Test{measure.TestTCP}
	}
	_, err := d.Plan()
	if err != nil {
		undo()
	}
	return err
}
