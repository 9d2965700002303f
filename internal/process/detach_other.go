//go:build !unix

package process

import "errors"

// StartDetached is not possible on this system.
func StartDetached([]string, string, ...string) error { return errors.ErrUnsupported }
