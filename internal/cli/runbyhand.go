package cli

import (
	"bufio"
	"context"
	"fmt"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
)

// confirmer is what asks a person about levels that are changed by hand. nil where the
// plan has none. The error is of kind usage where there is nobody to ask.
func confirmer(sys *System, p *campaign.Plan, only campaign.Selection, clearLine func()) (func(context.Context, []measure.Level) (campaign.Confirmed, error), error) {
	states := p.HandStates(only)
	switch {
	case len(states) == 0:
		return nil, nil
	case p.Chooses(only):
		return func(context.Context, []measure.Level) (campaign.Confirmed, error) {
			return campaign.Confirmed{How: campaign.ConfirmedBySelection, User: sys.Username()}, nil
		}, nil
	case !sys.StdinTerminal():
		return nil, p.NobodyAtHand(states[0])
	}
	lines := bufio.NewReader(sys.Stdin)
	return func(ctx context.Context, levels []measure.Level) (campaign.Confirmed, error) {
		clearLine()
		names := make([]string, len(levels))
		for i, l := range levels {
			names[i] = sys.Catalogue.Sentence("run.by_hand.level", text.Args{"Factor": l.Factor, "Level": l.Value})
		}
		fmt.Fprint(sys.Stderr, printable.Line(sys.Catalogue.Sentence("run.by_hand", text.Args{"Levels": names})), " ")
		if _, err := nextLine(ctx, lines); err != nil {
			fmt.Fprintln(sys.Stderr)
			return campaign.Confirmed{}, measure.Fail(measure.KindInterrupted, "campaign.not_confirmed", measure.Figures{"plan": p.File})
		}
		return campaign.Confirmed{How: campaign.ConfirmedAtTerminal, User: sys.Username()}, nil
	}, nil
}
