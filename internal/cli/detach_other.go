//go:build !unix

package cli

import "errors"

func startDetached(string, ...string) error { return errors.ErrUnsupported }
