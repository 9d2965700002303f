package campaign

import (
	"context"
	"strconv"
	"strings"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/process"
	"soku/internal/yamlfile"
)

// commands runs the before or after commands of a block in turn and stops at
// the first that fails. failed is that failure, which is one of the block's
// trials; err is one of the campaign.
func (r *run) commands(ctx context.Context, when string, b schedule.Block, texts []string) (failed *measure.Error, err error) {
	for _, text := range texts {
		if ctx.Err() != nil {
			return nil, r.interrupted(ctx)
		}
		rec := journal.CommandRecord{When: when, Pattern: b.Pattern.Name, Round: b.Round, Text: text}
		r.emit(Event{Kind: EventCommand, Command: &rec})
		limited, cancel := context.WithTimeoutCause(ctx, r.c.Plan.Limit.Std(),
			measure.Fail(measure.KindBroken, "campaign.command_timeout", measure.Figures{"limit_ns": r.c.Plan.Limit}))
		begin := r.Now()
		output, runErr := r.Command(limited, text, r.environment(b))
		rec.Duration = measure.Duration(r.Now().Sub(begin))
		rec.Output = strings.ToValidUTF8(string(output), "\uFFFD")
		if runErr != nil && limited.Err() != nil {
			runErr = context.Cause(limited)
		}
		cancel()
		if runErr != nil {
			rec.Error = runErr.Error()
		}
		if err := r.c.write(journal.Record{Kind: journal.RecordCommand, At: r.Now().UTC(), Command: &rec}); err != nil {
			return nil, err
		}
		r.emit(Event{Kind: EventCommandDone, Command: &rec, Error: measure.AsError(runErr, measure.KindBroken)})
		if ctx.Err() != nil {
			return nil, r.interrupted(ctx)
		}
		if runErr != nil {
			return commandFailure(rec, runErr), nil
		}
	}
	return nil, nil
}

// commandFailure is the failure of a before or after command, with the last line that it
// printed.
func commandFailure(rec journal.CommandRecord, why error) *measure.Error {
	text := yamlfile.Shorten(rec.Text)
	if last := process.LastLine(rec.Output); last != "" {
		return measure.Fail(measure.KindBroken, "campaign.command_output", measure.Figures{"key": rec.When, "command": text, "cause": why, "output": last})
	}
	return measure.Fail(measure.KindBroken, "campaign.command", measure.Figures{"key": rec.When, "command": text, "cause": why})
}

// environment describes to commands the block that they surround.
func (r *run) environment(b schedule.Block) []string {
	env := []string{
		"SOKU_CAMPAIGN=" + r.c.ID(), "SOKU_PATTERN=" + b.Pattern.Name, "SOKU_ROUND=" + strconv.Itoa(b.Round),
	}
	for _, l := range b.Pattern.Levels {
		env = append(env, plan.FactorVariable(l.Factor)+"="+l.Value)
	}
	return env
}
