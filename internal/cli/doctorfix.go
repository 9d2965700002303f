package cli

import (
	"context"
	"fmt"
	"net/netip"

	"soku/internal/doctor"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/text"
)

// fixDoctor shows the changes that would fix what was found, asks, and makes them. It returns
// those that were made; the keys are changes of the document.
func fixDoctor(ctx context.Context, sys *System, d *doctor.Document, yes bool) (map[doctor.Change]bool, error) {
	changes := d.Changes()
	if len(changes) == 0 {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("doctor.fix.none", nil))
		return nil, nil
	}
	var would text.Lines
	for _, c := range changes {
		would.Row("label.change", "doctor.fix.change", text.Args{"Command": c.Command(), "Was": c.Was})
	}
	fmt.Fprintln(sys.Stdout)
	printLines(sys.Catalogue, sys.Stdout, 0, would)
	switch {
	case !sys.Root:
		return nil, measure.Fail(measure.KindPermission, "cli.doctor.root", nil)
	case yes:
	case !sys.StdinTerminal():
		return nil, measure.Fail(measure.KindUsage, "cli.doctor.unasked", measure.Figures{"changes": len(changes)})
	default:
		agreed, err := confirmed(ctx, sys, sys.Catalogue.Sentence("doctor.fix.ask", text.Args{"Changes": len(changes)}))
		if err != nil {
			return nil, err
		}
		if !agreed {
			fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("doctor.fix.kept", nil))
			return nil, nil
		}
	}
	return makeChanges(ctx, sys, changes)
}

func makeChanges(ctx context.Context, sys *System, changes []doctor.Change) (mended map[doctor.Change]bool, err error) {
	r, err := openRecord(sys)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	made := map[string]bool{} // by the command: the old value may be another one now
	failed := 0
	err = doctor.Fix(ctx, sys.Settings, r, bootOf(ctx), changes, func(res doctor.Result) {
		var out text.Lines
		if res.Err != nil {
			failed++
			out.Row("label.failed", "summary.text", text.Args{"Text": errorText(sys.Catalogue, res.Err)})
		} else {
			made[res.Command()] = true
			out.Row("label.changed", "doctor.fix.changed", text.Args{"Setting": res.Name(), "To": res.To, "Was": res.Was})
		}
		printLines(sys.Catalogue, sys.Stdout, sys.StdoutWidth(), out)
	})
	if len(made) > 0 {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("doctor.fix.undo", nil))
	}
	if err == nil && failed > 0 {
		err = measure.Fail(measure.KindIncomplete, "cli.doctor.incomplete", measure.Figures{"changes": failed})
	}
	mended = map[doctor.Change]bool{}
	for _, c := range changes {
		mended[c] = made[c.Command()]
	}
	return mended, err
}

func openRecord(sys *System) (*doctor.Record, error) {
	if err := sys.needDataDir(); err != nil {
		return nil, err
	}
	if err := sys.MkdirAll(sys.DataDir, 0o700); err != nil {
		return nil, measure.Fail(measure.KindStore, "doctor.record.open", measure.Figures{"file": sys.DataDir, "cause": err})
	}
	return doctor.OpenRecord(sys.DataDir)
}

// bootOf identifies the running system, or returns "" if it is unknown.
func bootOf(ctx context.Context) string {
	if d := host.Facts(ctx, netip.Addr{}).Deployment; d != nil {
		return d.BootID
	}
	return ""
}

// undoDoctor restores what soku doctor --fix changed.
func undoDoctor(ctx context.Context, sys *System) error {
	if err := sys.needDataDir(); err != nil {
		return err
	}
	switch {
	case !doctor.HasRecord(sys.DataDir):
		return measure.Fail(measure.KindNotFound, "cli.doctor.nothing", measure.Figures{"folder": sys.DataDir})
	case !sys.Root:
		return measure.Fail(measure.KindPermission, "cli.doctor.root", nil)
	}
	r, err := openRecord(sys)
	if err != nil {
		return err
	}
	defer r.Close()
	failed, reported := 0, 0
	err = doctor.Undo(ctx, sys.Settings, r, bootOf(ctx), func(u doctor.Undone) {
		reported++
		var out text.Lines
		switch u.Fate {
		case doctor.Restored:
			out.Row("label.restored", "doctor.undo.restored", text.Args{"Setting": u.Name(), "Was": u.Was})
		case doctor.Left:
			out.Row("label.left", "doctor.undo.left", text.Args{"Setting": u.Name(), "Value": u.Value, "To": u.To})
		case doctor.Restarted:
			out.Row("label.undone", "doctor.undo.restarted", text.Args{"Setting": u.Name()})
		case doctor.Failed:
			failed++
			out.Row("label.failed", "summary.text", text.Args{"Text": errorText(sys.Catalogue, u.Err)})
		}
		printLines(sys.Catalogue, sys.Stdout, sys.StdoutWidth(), out)
	})
	switch {
	case err != nil:
		return err
	case failed > 0:
		return measure.Fail(measure.KindIncomplete, "cli.doctor.incomplete", measure.Figures{"changes": failed})
	case reported == 0:
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("doctor.undo.nothing", nil))
	}
	return nil
}
