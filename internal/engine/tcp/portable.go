//go:build !linux

package tcp

import "errors"

func (s *sender) loops(string) (work func(i int), n int, err error) {
	return nil, 0, errors.ErrUnsupported
}

func (s *sender) pacedLoops(path string) (work func(i int), n int, err error) {
	return nil, 0, cannot("tx", path, nil)
}

func (r *receiver) loops(string) (work func(i int), n int, err error) {
	return nil, 0, errors.ErrUnsupported
}
