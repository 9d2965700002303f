package campaign_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// trialChild is "soku trial" with an invented measurement; the test's host name
// says how it goes.
func trialChild() int {
	switch os.Getenv("SOKU_TEST_TRIAL") {
	case "crash":
		fmt.Fprintln(os.Stderr, "starting\nfatal error: out of luck")
		return 2
	case "greeting":
		fmt.Println("Welcome to vm1, last login yesterday")
		return 0
	case "silent":
		return 0
	case "endless line":
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return 1
			}
		}
	}
	fmt.Println("Welcome to vm1") // shells greet
	err := campaign.ServeTrial(context.Background(), os.Stdin, os.Stdout, func(ctx context.Context, s campaign.TrialSpec, obs measure.Observer) *measure.Result {
		for i := range 3 {
			obs(measure.Progress{Bytes: int64(i)})
		}
		if os.Getenv("SOKU_TEST_TRIAL") == "endless" {
			<-ctx.Done()
			_, _ = os.Stdout.WriteString("\n")
			_ = os.WriteFile(os.Getenv("SOKU_TEST_MARK"), []byte(context.Cause(ctx).Error()), 0o644)
		}
		return &measure.Result{Schema: measure.Schema, ID: "child", Test: s.Test, Options: s.Options,
			Path: measure.Path{Client: s.Client, Server: s.Server}, Warnings: []string{s.Host, s.Access.Token, s.Trial.Pattern}}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func remote(t *testing.T, how, mark string) *campaign.Remote {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &campaign.Remote{Now: time.Now, Access: campaign.Access{Token: "secret"},
		Child: func(ctx context.Context, _ campaign.Job) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, self)
			cmd.Env = append(os.Environ(), "SOKU_TEST_ROLE=trial", "SOKU_TEST_TRIAL="+how, "SOKU_TEST_MARK="+mark)
			return cmd, nil
		}}
}

func job(t *testing.T) campaign.Job {
	t.Helper()
	for b := range parse(t, full).Blocks("c1", 1) {
		return b.Job(0)
	}
	return campaign.Job{}
}

func TestAChildRunsTheTrialAndReportsIt(t *testing.T) {
	j := job(t)
	var bytes []int64
	r := remote(t, "", "").Run(t.Context(), j, campaign.Hooks{Progress: func(p measure.Progress) { bytes = append(bytes, p.Bytes) }})
	if r.Error != nil {
		t.Fatal(r.Error)
	}
	if fmt.Sprint(bytes) != "[0 1 2]" || r.ID != "child" || r.Test != j.Test || r.Options != j.Options {
		t.Errorf("progress %v, result %+v", bytes, r)
	}
	if r.Trial == nil || r.Trial.Order != j.Trial.Order || r.Path.Client.Name != "onprem" {
		t.Errorf("identity %+v, path %+v", r.Trial, r.Path)
	}
	if fmt.Sprint(r.Warnings) != fmt.Sprint([]string{j.Server.Endpoint.Address, "secret", j.Trial.Pattern}) {
		t.Errorf("the child was told %v", r.Warnings)
	}
}

func TestAChildThatDiesLeavesAResultWithItsLastWords(t *testing.T) {
	for how, want := range map[string]string{
		"crash": "fatal error: out of luck", "greeting": "Welcome to vm1, last login", "silent": "it said nothing",
	} {
		r := remote(t, how, "").Run(t.Context(), job(t), campaign.Hooks{Progress: func(measure.Progress) {}})
		if r.Error == nil || r.Error.Kind != measure.KindBroken || !strings.Contains(r.Error.Message, want) || !strings.Contains(r.Error.Message, "onprem") {
			t.Errorf("%s: error is %v", how, r.Error)
		}
		if r.ID == "" || r.Trial == nil || r.Schema != measure.Schema {
			t.Errorf("%s: result is %+v", how, r)
		}
	}
}

func TestAChildThatCannotStartIsAFailedTrial(t *testing.T) {
	r := &campaign.Remote{Now: time.Now, Child: func(ctx context.Context, _ campaign.Job) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, "soku-test-no-such-program"), nil
	}}
	res := r.Run(t.Context(), job(t), campaign.Hooks{Progress: func(measure.Progress) {}})
	if res.Error == nil || res.Error.Kind != measure.KindBroken || !strings.Contains(res.Error.Message, "soku-test-no-such-program") {
		t.Errorf("error is %v", res.Error)
	}
}

func TestEndingTheContextEndsTheChild(t *testing.T) {
	mark := t.TempDir() + "/mark"
	ctx, cancel := context.WithCancelCause(t.Context())
	r := remote(t, "endless", mark).Run(ctx, job(t), campaign.Hooks{Progress: func(p measure.Progress) {
		if p.Bytes == 2 {
			cancel(measure.Errorf(measure.KindInterrupted, "interrupted"))
		}
	}})
	// The child may have had the time to say so itself, or was killed.
	if r.Error == nil && r.ID != "child" || r.Error != nil && r.Error.Kind != measure.KindInterrupted {
		t.Errorf("error is %v", r.Error)
	}
}

func TestTheEndOfTheInputEndsTheTrial(t *testing.T) {
	in, feed := io.Pipe()
	var out bytes.Buffer
	done := make(chan error, 1)
	begun := make(chan struct{})
	var cause error
	go func() {
		done <- campaign.ServeTrial(context.Background(), in, &out, func(ctx context.Context, _ campaign.TrialSpec, _ measure.Observer) *measure.Result {
			close(begun)
			<-ctx.Done()
			cause = context.Cause(ctx)
			return &measure.Result{Schema: measure.Schema, ID: "x"}
		})
	}()
	if _, err := io.WriteString(feed, `{"schema":"soku.trial/1","test":"ping","host":"h"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	_ = feed.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if measure.KindOf(cause) != measure.KindInterrupted {
		t.Errorf("the trial ended with %v", cause)
	}
}

func TestAnInputThatIsNoTrialIsRefused(t *testing.T) {
	for _, in := range []string{"", "\n", "hello\n", `{"schema":"soku.trial/9"}` + "\n", strings.Repeat("x", 2<<20)} {
		err := campaign.ServeTrial(t.Context(), strings.NewReader(in), io.Discard, nil)
		if measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%.20q: %v", in, err)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestATrialNobodyListensToEnds(t *testing.T) {
	in, feed := io.Pipe()
	defer feed.Close()
	go func() { _, _ = io.WriteString(feed, `{"schema":"soku.trial/1","test":"ping"}`+"\n") }()
	err := campaign.ServeTrial(t.Context(), in, brokenWriter{}, func(ctx context.Context, _ campaign.TrialSpec, obs measure.Observer) *measure.Result {
		obs(measure.Progress{})
		<-ctx.Done()
		return &measure.Result{Schema: measure.Schema}
	})
	if measure.KindOf(err) != measure.KindBroken {
		t.Errorf("error is %v", err)
	}
}

func FuzzServeTrial(f *testing.F) {
	f.Add([]byte(`{"schema":"soku.trial/1","test":"tcp","options":{"duration_ns":1},"host":"h","trial":{"levels":null}}` + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		_ = campaign.ServeTrial(t.Context(), bytes.NewReader(in), io.Discard, func(_ context.Context, s campaign.TrialSpec, _ measure.Observer) *measure.Result {
			return &measure.Result{Schema: measure.Schema, ID: s.Host}
		})
	})
}
