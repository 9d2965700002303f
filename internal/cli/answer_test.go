package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/test/output"
)

func TestAnInterruptEndsAQuestion(t *testing.T) {
	for args, question := range map[string]string{
		"prune --older-than 0s":     "[y/N]",
		"rm --campaign gateway/sku": "[y/N]",
		"rm last":                   "[y/N]",
		"new -o " + filepath.Join(t.TempDir(), "plan.yaml"): "?",
	} {
		t.Run(args, func(t *testing.T) {
			sys, _ := stocked(t, 0)
			fillStore(t, sys)
			nobody, hold := io.Pipe()
			defer hold.Close() // ends the read
			interrupts := make(chan os.Signal, 1)
			errs := new(output.Buffer)
			sys.Args, sys.Stdin, sys.Stderr, sys.Interrupts = strings.Fields(args), nobody, errs, interrupts
			sys.StdinTerminal = func() bool { return true }
			code := make(chan int, 1)
			go func() { code <- Run(sys) }()
			errs.Await(t, question)
			interrupts <- os.Interrupt
			select {
			case got := <-code:
				if got != 130 || !strings.Contains(errs.String(), "\nsoku: interrupted") {
					t.Errorf("status %d, %s", got, errs)
				}
			case <-time.After(time.Minute):
				t.Fatal("it still waits for an answer")
			}
			if left := len(storedIDs(t, sys)); left != 6 {
				t.Errorf("%d results are left of 6", left)
			}
		})
	}
}
