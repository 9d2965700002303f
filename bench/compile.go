package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// compileLimits builds the reference programs into dir as limit-NAME. It returns
// why there are none, or an empty string.
func compileLimits(ctx context.Context, sources, dir string) string {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "the limit: no C compiler (cc)"
	}
	for _, name := range []string{"stream", "flood", "roundtrip", "connect"} {
		c := exec.CommandContext(ctx, cc, "-O2", "-pthread", "-o", filepath.Join(dir, "limit-"+name), filepath.Join(sources, name+".c"))
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Sprintf("the limit: %s does not compile: %s", name, lastLine(strings.TrimSpace(string(out))))
		}
	}
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "limit-start"), "./"+filepath.Join(sources, "start"))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Sprintf("the limit: start does not compile: %s", lastLine(strings.TrimSpace(string(out))))
	}
	return ""
}
