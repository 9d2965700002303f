package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"soku/internal/store"
)

// addStoreFlag gives cmd the flag that names the store.
func addStoreFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "store", "", "file of the store (default soku.db in the data folder, SOKU_DATA)")
}

// openStore opens the store in file, or in the data folder when file is empty.
// The caller closes it.
func openStore(ctx context.Context, sys *System, file string) (store.Store, error) {
	if file == "" {
		file = filepath.Join(sys.DataDir, "soku.db")
	}
	return store.OpenSQLite(ctx, file)
}
