package hubcli

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"soku/internal/archive/backup"
	"soku/internal/cli"
	"soku/internal/printable"
	"soku/internal/store"
	"soku/internal/text"
)

// copying are the flags of a command that copies a store.
type copying struct {
	store string
	json  bool
}

func (f *copying) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.store, "store", "", "file of the store, or postgres://USER:PASSWORD@HOST/DATABASE (default soku.db in the data folder, SOKU_DATA)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

// run copies with the store of the flags, and says what was done.
func (f *copying) run(ctx context.Context, sys *cli.System, file string, copied func(context.Context, store.Store, func(done, of int)) (backup.Copied, error)) (err error) {
	st, err := sys.OpenStore(ctx, cmp.Or(f.store, filepath.Join(sys.DataDir, "soku.db")))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	drawn := false
	done, err := copied(ctx, st, func(done, of int) {
		if sys.Width() > 0 && !f.json {
			drawn = true
			printable.Draw(sys.Stderr, "\r\x1b[K"+sys.Catalogue.Sentence("hub.backup.progress", text.Args{"Done": done, "All": of}))
		}
	})
	if drawn {
		printable.Draw(sys.Stderr, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(sys, done)
	}
	return say(sys, sys.Catalogue.Sentence("hub.backup.done", text.Args{
		"File": file, "Results": done.Results.New, "Campaigns": done.Campaigns.New, "Same": done.Results.Known,
		"Conflicts": len(done.Results.Conflicts) + len(done.Campaigns.Conflicts) + len(done.Journals.Conflicts),
	}))
}

func newBackupCommand(sys *cli.System) *cobra.Command {
	f := &copying{}
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the store and its journals into a new file, also in use",
		Long: `Copies results, campaigns and their journals into one file, as they are at one
moment. The file is itself a store, which soku ls --store FILE reads.`,
		Example: `  soku-hub backup monday.db
  soku-hub backup monday.db --store postgres://soku@db/soku`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), sys, args[0], func(ctx context.Context, st store.Store, progress func(done, of int)) (backup.Copied, error) {
				return backup.Write(ctx, st, args[0], progress)
			})
		},
	}
	f.add(cmd)
	return cmd
}

func newRestoreCommand(sys *cli.System) *cobra.Command {
	f := &copying{}
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Merge a backup into the store, of either kind",
		Long: `Adds what the store does not have. What it has with the same content stays, and
what it has with another content stays as well and is counted as a conflict. So
a store moves from a file to PostgreSQL, and back.`,
		Example: `  soku-hub restore monday.db
  soku-hub restore monday.db --store postgres://soku@db/soku`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), sys, args[0], func(ctx context.Context, st store.Store, progress func(done, of int)) (backup.Copied, error) {
				return backup.Restore(ctx, args[0], st, progress)
			})
		},
	}
	f.add(cmd)
	return cmd
}
