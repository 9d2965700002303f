package lab

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// addLines records both directions of a link whose files were just opened, in the order
// in which the helper will have them: the device of one end and its stamps, then those of
// the other.
func (l *Lab) addLines(k *Link) {
	first := recordFD + 1 + 2*len(l.state.Lines)
	for w := range k.Ways {
		way := &k.Ways[w]
		spec := lineSpec{
			Link: k.Name, From: k.Ends[w].Node.Name, To: k.Ends[1-w].Node.Name,
			Delay: int64(way.Delay), Jitter: int64(way.Jitter), Loss: way.Loss,
			Seed: uint64(first + w), InFD: first + 2*w, StampFD: first + 2*w + 1, OutFD: first + 2*(1-w),
		}
		if k.policesBytes(w) {
			spec.PoliceBps, spec.PoliceBurst = way.Police, policeBurst(k, w)
		}
		l.state.Lines = append(l.state.Lines, spec)
	}
}

// lineTimeout is how long the delay line may take to start.
const lineTimeout = 10 * time.Second

// delayLine starts the helper and passes it the TAP devices.
func (a *assembly) delayLine(ctx context.Context) error {
	l := a.lab
	if len(l.state.Lines) == 0 {
		return nil
	}
	l.options.say("delay_line", measure.Figures{"N": len(l.state.Lines) / 2})
	if err := l.save(); err != nil {
		return err
	}
	record, err := newRecord(len(l.state.Lines))
	if err != nil {
		return err
	}
	defer record.Close()
	ready, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), l.options.Executable, "lab", "delay-line", filepath.Join(l.Dir, "state.json"))
	cmd.ExtraFiles = append([]*os.File{record}, a.lineFiles...)
	cmd.Stdout = theirs
	err = l.start(roleLine, "", cmd)
	theirs.Close()
	if err != nil {
		return fail("lab.start_delay_line", measure.Figures{"cause": err})
	}
	_ = ready.SetReadDeadline(time.Now().Add(lineTimeout))
	defer context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Now()) })()
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		return measure.Fail(measure.KindInternal, "lab.delay_line_not_started", measure.Figures{"last_line": lastLine(filepath.Join(l.Dir, "delay-line.log"))})
	}
	return nil
}

func newRecord(directions int) (*os.File, error) {
	fd, err := unix.MemfdCreate("soku-delay-line", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fail("lab.line.create_record", measure.Figures{"cause": err})
	}
	f := os.NewFile(uintptr(fd), "delay line's record")
	_, err = f.Write(emptyRecord(directions))
	if err == nil {
		err = f.Truncate(int64(recordBytes(directions)))
	}
	if err != nil {
		f.Close()
		return nil, fail("lab.line.create_record", measure.Figures{"cause": err})
	}
	return f, nil
}
