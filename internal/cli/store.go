package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"soku/internal/archive"
	"soku/internal/campaign/journal"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/store"
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
	if err := sys.needDataDir(); err != nil {
		return printable.Words(sys.Catalogue.Failure(err))
	}
	return "Results are stored in (SOKU_DATA, --store):\n  " + storeFile(sys, "")
}

// openStore opens the store in file, or in the data folder when file is empty.
// The caller closes it.
func openStore(ctx context.Context, sys *System, file string) (store.Store, error) {
	if err := needStore(sys, file); err != nil {
		return nil, err
	}
	return sys.OpenStore(ctx, storeFile(sys, file))
}

// inStore calls use with the store, and closes it afterwards.
func inStore(ctx context.Context, sys *System, file string, use func(store.Store) error) error {
	st, err := openStore(ctx, sys, file)
	if err != nil {
		return err
	}
	return errors.Join(use(st), st.Close())
}

// openStoreFor is openStore, or openExistingStore for a dry run. closeStore closes the store, if
// there is one.
func openStoreFor(ctx context.Context, sys *System, file string, dryRun bool) (st store.Store, closeStore func() error, err error) {
	open := openStore
	if dryRun {
		open = openExistingStore
	}
	if st, err = open(ctx, sys, file); st == nil || err != nil {
		return nil, func() error { return nil }, err
	}
	return st, st.Close, nil
}

// tryStore fails if results cannot be stored: the store cannot be opened, or its folder takes no
// file.
func tryStore(ctx context.Context, sys *System, file string) error {
	if err := inStore(ctx, sys, file, func(store.Store) error { return nil }); err != nil {
		return err
	}
	return tryStoreFolder(sys, file)
}

// tryStoreFolder fails if the folder of the store takes no file.
func tryStoreFolder(sys *System, file string) error {
	if err := sys.TryWrite(storeFile(sys, file)); err != nil {
		return measure.Fail(measure.KindStore, "cli.place.store", measure.Figures{"store": storeFile(sys, file), "cause": err})
	}
	return nil
}

// tryDataDir fails if the data folder takes no file. It leaves no folder that was not there.
func tryDataDir(sys *System) error {
	if _, err := sys.Stat(sys.DataDir); err != nil {
		defer func() { _ = sys.Remove(sys.DataDir) }() // if it is empty
	}
	err := sys.MkdirAll(sys.DataDir, 0o700)
	if err == nil {
		err = sys.TryWrite(storeFile(sys, ""))
	}
	if err != nil {
		return measure.Fail(measure.KindStore, "cli.place.data_folder", measure.Figures{"folder": sys.DataDir, "cause": err})
	}
	return nil
}

// needStore fails if the store would be in the data folder and none is known.
func needStore(sys *System, file string) error {
	if file != "" {
		return nil
	}
	return sys.needDataDir()
}

func storeFile(sys *System, file string) string {
	if file == "" {
		return filepath.Join(sys.DataDir, archive.StoreName)
	}
	return file
}

// archiveOf returns a store with the journals in the data folder. file is that of the store, or
// empty for the one in the data folder.
func archiveOf(sys *System, st store.Store, file string) archive.Archive {
	return archive.Archive{Store: st, Journals: campaignsDir(sys), Own: file == ""}
}

// findCampaign finds the campaign that a person means by a text.
func findCampaign(ctx context.Context, sys *System, s store.Store, text string) (store.Campaign, error) {
	return archive.Archive{Store: s, Journals: campaignsDir(sys)}.Find(ctx, text)
}

// openExistingStore opens the store, or returns nil if its file does not exist.
func openExistingStore(ctx context.Context, sys *System, file string) (store.Store, error) {
	if file == "" && sys.DataDir == "" {
		return nil, nil
	}
	f, err := sys.Open(storeFile(sys, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		_ = f.Close()
	}
	return openStore(ctx, sys, file) // which says why it cannot be read
}

// campaignsDir has the journals in the data folder.
func campaignsDir(sys *System) journal.Backend {
	if sys.DataDir == "" {
		return sys.OpenJournals("") // has no campaigns
	}
	return sys.OpenJournals(filepath.Join(sys.DataDir, archive.JournalsName))
}

// bundleOf is [archive.Bundle].
var bundleOf = archive.Bundle
