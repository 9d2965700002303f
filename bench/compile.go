package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// compileLimits builds the reference programs into dir as limit-NAME. It returns the
// reason if it cannot, or an empty string.
func compileLimits(ctx context.Context, sources, dir string) string {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "the limit: no C compiler (cc)"
	}
	for _, name := range []string{"stream", "flood", "roundtrip", "connect"} {
		if why := compile(ctx, name, cc, "-O2", "-pthread", "-o", filepath.Join(dir, "limit-"+name), filepath.Join(sources, name+".c")); why != "" {
			return why
		}
	}
	return ""
}

// compile runs the compiler for one program and returns its error, or an empty string.
func compile(ctx context.Context, name, compiler string, words ...string) string {
	out, err := exec.CommandContext(ctx, compiler, words...).CombinedOutput()
	if err == nil {
		return ""
	}
	return fmt.Sprintf("the limit: %s does not compile: %s", name, lastLine(strings.TrimSpace(string(out))))
}
