// Package catalog holds documented limits of components that networks are built of: virtual
// machines, gateways, circuits, tunnels and disks of providers. Each figure has the address of
// the page that it was read from and the day. The files in data are embedded; a person's own
// file is merged.
//
// The package opens no files, starts no goroutines and judges nothing that was measured.
// docs/reference/catalog.md specifies the files.
package catalog
