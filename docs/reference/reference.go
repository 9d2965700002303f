// Package reference holds the pages of the reference that the program itself shows: soku help plan.
package reference

import "embed"

// Pages are the pages by their file names.
//
//go:embed plan.md metrics.md findings.md check.md
var Pages embed.FS
