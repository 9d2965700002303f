// Package measure is soku's vocabulary: what is measured, between which
// addresses, with which options, and the self-contained document a trial
// leaves behind. It holds types and the rules for reading and writing them;
// it does no I/O, starts no goroutines and is imported by every other package.
// Package measure/option declares the options of each test, measure/metric the
// figures of results, measure/finding the codes of findings.
//
// Units are in the name of a field (_bps, _ns, _bytes) or in its type: [Rate]
// is bits a second, [Size] bytes, [Duration] nanoseconds. Times are the wall
// clock of the host that wrote them; offsets within a trial are nanoseconds of
// the monotonic clock since that end started to move packets.
//
// The document is specified in docs/reference/result.md and, as JSON Schema,
// in docs/reference/result.schema.json.
package measure
