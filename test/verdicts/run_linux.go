package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/lab"
	"soku/internal/measure"
)

// run measures a case times times on one network, or each time on a fresh one, and calls each with
// each document. An error comes from the network or the program, not from a trial.
func (r *runner) run(ctx context.Context, c *testCase, times int, each func(run int, document []byte) error) error {
	if !c.Fresh {
		return r.onNetwork(ctx, c, times, each)
	}
	for i := range times {
		err := r.onNetwork(ctx, c, 1, func(_ int, document []byte) error { return each(i+1, document) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) onNetwork(ctx context.Context, c *testCase, times int, each func(run int, document []byte) error) (err error) {
	prefer()
	name := fmt.Sprintf("verdicts-%08x", rand.Uint32())
	topology, err := lab.Parse(c.Name, []byte("lab: "+name+"\n"+c.Topology))
	if err != nil {
		return err
	}
	l, err := lab.Up(ctx, topology, lab.Options{Executable: r.program, RunDir: r.dir})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		err = errors.Join(err, l.Down(ctx))
	}()
	for _, d := range c.Disturb {
		stop, err := d(ctx, l, r.program)
		if err != nil {
			return err
		}
		defer stop()
	}
	for i := range times {
		document, err := r.trial(ctx, l, c)
		if err != nil {
			return err
		}
		if err := each(i+1, document); err != nil {
			return err
		}
	}
	return nil
}

// preference is the nice value (sched(7)) of the networks and of what measures on them: whatever else the
// machine does is no part of a case. Busy loops of a case have it, too.
const preference = -10

// prefer gives this program, and so what it starts, the preference; without the right to it nothing changes.
func prefer() {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, preference)
		}
	}
}

// trial measures once from client to server.
func (r *runner) trial(ctx context.Context, l *lab.Lab, c *testCase) ([]byte, error) {
	addr, err := l.Topology.Address("server", "")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	argv := append([]string{r.program, string(c.Test), addr.String(), "--json", "--no-save"}, c.Flags...)
	if folder := l.DiskFolder("client"); folder != "" {
		argv = append(argv, "--disk", folder)
	}
	explained := r.probes && (c.Test == measure.TestTCP || c.Test == measure.TestUDP)
	if explained {
		argv = append(argv, "--explain")
	}
	if c.Within > 0 {
		group, err := quota(c.Within)
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.Remove(group) }()
		if c.Hidden {
			argv = append([]string{"unshare", "-m", "sh", "-c", `umount -l /sys/fs/cgroup && exec "$0" "$@"`}, argv...)
		}
		argv = append([]string{"sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, group}, argv...)
	}
	cmd := l.Command(ctx, "client", argv...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if !json.Valid(out.Bytes()) || out.Len() == 0 {
		return nil, fmt.Errorf("%v: %w %s", argv, err, errs.String())
	}
	if explained {
		return told(out.Bytes())
	}
	return out.Bytes(), nil // a trial that failed has a document, too
}

// told is the result of an explanation, with the verdict of its trials.
func told(explanation []byte) ([]byte, error) {
	var e struct {
		Result  *measure.Result
		Verdict *measure.Verdict
	}
	if err := json.Unmarshal(explanation, &e); err != nil {
		return nil, err
	}
	e.Result.Verdict = e.Verdict
	return json.Marshal(e.Result)
}

// quota makes a control group that has this share of one processor.
func quota(share float64) (group string, err error) {
	const period = 100_000 // microseconds
	some := strconv.Itoa(int(share * period))
	name := fmt.Sprintf("soku-verdicts-%08x", rand.Uint32())
	files := map[string]string{"cpu.cfs_period_us": strconv.Itoa(period), "cpu.cfs_quota_us": some}
	root := "/sys/fs/cgroup/cpu"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		root, files = "/sys/fs/cgroup", map[string]string{"cpu.max": some + " " + strconv.Itoa(period)}
	}
	group = filepath.Join(root, name)
	if err := os.Mkdir(group, 0o755); err != nil {
		return "", err
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(group, file), []byte(text), 0o644); err != nil {
			return "", errors.Join(err, os.Remove(group))
		}
	}
	return group, nil
}
