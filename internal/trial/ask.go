package trial

import (
	"context"

	"soku/internal/measure"
	"soku/internal/tests"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

// askFirst asks the server whether it is there and has a folder for files, before the client
// makes them, which may take minutes and much of its disk.
func askFirst(ctx context.Context, s Spec, t target, o measure.Options) error {
	if !o.NeedsServer(s.Test) {
		return nil
	}
	info, err := native.Ask(ctx, t.hostPort(o), wire.Request{Options: o, Token: s.Token, TLS: s.TLS})
	if admit := tests.Of(s.Test).Admit; err == nil && admit != nil && info.Copies != nil && !*info.Copies {
		err = admit(tests.Engines{}, o)
	}
	return err
}
