package ingest

import "soku/internal/measure"

// run is the output of one start of a program while its lines are read.
type run interface {
	line(s *Source, at int, line string) error
	result(s *Source) (*measure.Result, error)
}

// runs reads the lines of a program that was started several times. begin returns a run for
// the first line of one, and nil for other lines; record counts runs from 1. Lines before the
// first run are ignored.
func (s *Source) runs(begin func(line string, at, record int) (run, error)) ([]*measure.Result, error) {
	var out []*measure.Result
	var open run
	begun := 0
	end := func() error {
		if open == nil {
			return nil
		}
		r, err := open.result(s)
		out = append(out, r)
		return err
	}
	err := s.each(func(at int, line string) error {
		next, err := begin(line, at, begun+1)
		switch {
		case err != nil:
			return err
		case next != nil:
			err = end()
			open, begun = next, begun+1
			return err
		case open != nil:
			return open.line(s, at, line)
		}
		return nil
	})
	if err == nil {
		err = end()
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
