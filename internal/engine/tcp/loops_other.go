//go:build !linux

package tcp

import "errors"

func (s *sender) loops(string) (work func(i int), n int, err error) {
	return nil, 0, errors.ErrUnsupported
}

func (r *receiver) loops(string) (work func(i int), n int, err error) {
	return nil, 0, errors.ErrUnsupported
}
