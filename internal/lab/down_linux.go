package lab

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"soku/internal/durable"
	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// save writes state.json. The caller holds l.mu or has the only reference to
// l.
func (l *Lab) save() error {
	data, err := json.MarshalIndent(&l.state, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(l.Dir, "state.json"), data, 0o644)
}

// maxStateBytes limits the size of a state file.
const maxStateBytes = 1 << 20

func readState(dir string) (state, error) {
	path := filepath.Join(dir, "state.json")
	info, err := os.Stat(path)
	if err != nil {
		return state{}, err
	}
	if info.Size() > maxStateBytes {
		return state{}, measure.Fail(measure.KindInternal, "lab.state.too_large", measure.Figures{"file": path, "size_bytes": info.Size(), "most_bytes": maxStateBytes})
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return state{}, err
	}
	return decodeState(data)
}

// Open returns the running lab of that name. The error has kind not_found if there is
// none.
func Open(name string, o Options) (*Lab, error) {
	s, err := readState(o.dir(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, measure.Fail(measure.KindNotFound, "lab.not_up", measure.Figures{"lab": name})
	}
	if err != nil {
		return nil, failIfDown("lab.read_state", measure.Figures{"lab": name, "cause": err})
	}
	t, err := Parse(s.File, []byte(s.Topology))
	if err != nil {
		return nil, err
	}
	return &Lab{Topology: t, Dir: o.dir(name), options: o, state: s}, nil
}

// Down ends the lab's processes, removes its namespaces with everything in them, its disks
// and its state. It continues after a failure and returns all, joined. Calling it again is not an
// error.
func (l *Lab) Down(ctx context.Context) error {
	err := Down(ctx, l.Topology.Name, l.options)
	l.collect()
	return err
}

// Down is [Lab.Down] for the lab of that name in any state: after an incomplete start,
// too, when it removes the namespaces that it finds by name. A missing lab is not an
// error.
func Down(ctx context.Context, name string, o Options) error {
	if !nodeName.MatchString(name) {
		return measure.Fail(measure.KindUsage, "lab.down.bad_name", measure.Figures{"name": yamlfile.Shorten(name)})
	}
	if os.Geteuid() != 0 {
		return measure.Fail(measure.KindPermission, "lab.down.needs_root", measure.Figures{"lab": name})
	}
	var failures []error
	for _, err := range remove(ctx, name, o) {
		failures = append(failures, fail("lab.down", measure.Figures{"lab": name, "cause": err}))
	}
	return errors.Join(failures...)
}

// remove does the work of Down. It continues after a failure and returns all.
func remove(ctx context.Context, name string, o Options) (problems []error) {
	dir := o.dir(name)
	s, err := readState(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		problems = append(problems, err) // and find the namespaces by name
	}
	liftLimits(name) // a program that waits for a slow disk ends only after that
	if err := stop(ctx, s.Processes); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, removeGroups(ctx, name)...)
	names, err := namespacesOf(name)
	if err != nil {
		problems = append(problems, err)
	}
	for _, ns := range names {
		if err := removeNamespace(ns); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) == 0 || !errors.Is(problems[0], os.ErrPermission) {
		for _, folder := range []string{o.disks(name), dir} {
			if err := os.RemoveAll(folder); err != nil {
				problems = append(problems, err)
			}
		}
	}
	return problems
}
