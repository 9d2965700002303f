//go:build !linux

package main

import (
	"context"
	"errors"

	"soku/internal/lab"
)

var errLinux = errors.New("emulated networks need Linux")

func (*runner) run(context.Context, *testCase, int, func(int, []byte) error) error { return errLinux }

func needsLinux(context.Context, *lab.Lab, string) (func(), error) { return nil, errLinux }

func traffic(string, string) disturbance  { return needsLinux }
func spinning(int) disturbance            { return needsLinux }
func packetLimit(float64) disturbance     { return needsLinux }
func connectionLimit(float64) disturbance { return needsLinux }
func flowLimit(float64) disturbance       { return needsLinux }
