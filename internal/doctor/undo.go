package doctor

import (
	"context"
	"os"
	"slices"

	"soku/internal/measure"
)

// Fate is what became of a change when it was undone.
type Fate string

// Fates.
const (
	Restored  Fate = "restored"  // the setting has its old value
	Left      Fate = "left"      // somebody changed it meanwhile
	Restarted Fate = "restarted" // the system restarted since, which undid it
	Failed    Fate = "failed"    // it could not be restored, and stays in the record
)

// Undone is a change and its fate.
type Undone struct {
	Change
	Fate
	Value string // that the setting has, if it is left
	Err   error  // of one that failed
}

// Undo restores, the last change first, what is still as soku set it, and removes the record when
// nothing in it is left to restore. It can be killed at any moment and called again: a setting that
// has its old value already is not reported. The error is that of the record, or the cause of ctx.
func Undo(ctx context.Context, s Settings, r *Record, boot string, report func(Undone)) error {
	failed := false
	left := map[Change]bool{} // reported, by the setting alone
	for _, e := range slices.Backward(r.entries) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c, setting := e.Change, Change{Kind: e.Kind, Device: e.Device, Key: e.Key}
		if e.Boot != "" && boot != "" && e.Boot != boot {
			report(Undone{Change: c, Fate: Restarted})
			continue
		}
		now, err := s.Read(c)
		switch {
		case err != nil:
			failed = true
			report(Undone{Change: c, Fate: Failed, Err: changeFailed(c.reversed(), err)})
		case c.same(now, c.To):
			if err := set(s, c.reversed()); err != nil {
				failed = true
				report(Undone{Change: c, Fate: Failed, Err: err})
				continue
			}
			report(Undone{Change: c, Fate: Restored})
		case !c.same(now, c.Was) && !left[setting]:
			left[setting] = true
			report(Undone{Change: c, Fate: Left, Value: now})
		}
	}
	if failed {
		return nil
	}
	r.removed = true
	if err := os.Remove(r.file.Name()); err != nil {
		return measure.Fail(measure.KindStore, "doctor.record.write", measure.Figures{"file": r.file.Name(), "cause": err})
	}
	return nil
}
