// Package finding is the table of what soku can find out about a trial: codes, their severities
// and the figures of each. It makes no finding and holds none: see [soku/internal/measure.Finding].
// Its sentences are messages of the catalogue, and docs/reference/findings.md is generated from
// the table.
package finding
