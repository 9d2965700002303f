// Package tests is the registry of what soku can measure: one file a test, its
// descriptor. A descriptor binds the declaration that the test's engine registers
// ([measure.Spec]: options, defaults, rules) to what runs and shows it.
//
// Whoever needs every test to be registered imports this package.
package tests

import (
	_ "soku/internal/engine/connect"
	_ "soku/internal/engine/latency"
	_ "soku/internal/engine/mtu"
	_ "soku/internal/engine/ping"
	_ "soku/internal/engine/tcp"
	_ "soku/internal/engine/trace"
	_ "soku/internal/engine/udp"
)
