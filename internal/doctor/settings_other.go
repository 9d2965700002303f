//go:build !linux

package doctor

import "errors"

// SystemSettings are none on this system.
func SystemSettings() Settings { return unsupported{} }

type unsupported struct{}

func (unsupported) Read(Change) (string, error) { return "", errors.ErrUnsupported }
func (unsupported) Write(Change, string) error  { return errors.ErrUnsupported }
