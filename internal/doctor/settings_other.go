//go:build !linux

package doctor

import (
	"errors"
	"io/fs"
)

// SystemSettings are none on this system.
func SystemSettings() Settings { return unsupported{} }

type unsupported struct{}

func (unsupported) Read(Change) (string, error) { return "", errors.ErrUnsupported }
func (unsupported) Write(Change, string) error  { return errors.ErrUnsupported }

const noFollow = 0

// private holds here: no setting is changed.
func private(fs.FileInfo) bool { return true }
