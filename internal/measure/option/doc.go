// Package option declares the options of tests: keys, flags, ranges and help from the tags of
// [measure.Options], defaults and rules from the [Spec] that each test registers. [Effective]
// checks options and completes them.
//
// It reads no flags and no plans: it declares what these may contain. Tests are registered before
// main; after that its tables do not change and may be read by several goroutines.
package option
