//go:build !linux

package host

import "soku/internal/measure"

// functionWatch exists on Linux only.
type functionWatch struct{}

func watchFunction(string) *functionWatch { return nil }

func (*functionWatch) moved() *measure.FunctionBytes { return nil }
