package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"soku/internal/store"
	"soku/internal/store/sqlite"
)

// addStoreFlag gives cmd the flag that names the store.
func addStoreFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "store", "", "file of the store (default soku.db in the data folder, SOKU_DATA)")
}

// storeAnnotation is the annotation of commands whose help says where results are.
const storeAnnotation = "soku_store"

var storesResults = map[string]string{storeAnnotation: "yes"}

func showsStore(cmd *cobra.Command) bool { return cmd.Annotations[storeAnnotation] != "" }

// storedIn says in help where results are.
func storedIn(sys *System) string {
	return "Results are stored in (SOKU_DATA, --store):\n  " + storeFile(sys, "")
}

// openStore opens the store in file, or in the data folder when file is empty.
// The caller closes it.
func openStore(ctx context.Context, sys *System, file string) (store.Store, error) {
	return sqlite.Open(ctx, storeFile(sys, file))
}

func storeFile(sys *System, file string) string {
	if file == "" {
		return filepath.Join(sys.DataDir, "soku.db")
	}
	return file
}

// openExistingStore opens the store if its file exists, else it returns nil.
func openExistingStore(ctx context.Context, sys *System, file string) (store.Store, error) {
	f, err := sys.Open(storeFile(sys, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		_ = f.Close()
	}
	return openStore(ctx, sys, file) // which says why it cannot be read
}
