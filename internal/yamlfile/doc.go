// Package yamlfile reads the YAML files that people write: plans, topologies,
// mappings. Every error is of kind file, has the file, line and column as figures and
// what is wrong there as its cause, and begins with FILE:LINE:COLUMN, also one
// that is found after the file has been read, about what a name in it refers to;
// an unknown key comes with the known one that was probably meant.
//
// [Parse] makes a [File], a tree of [Node]s. A caller walks it ([File.Members],
// [File.Items], [File.Scalar]), or has it read into a struct by its yaml tags
// ([File.Decode]); a type with more than one form is a [Decoder].
//
// Size, depth and the values that aliases stand for are bounded, because the
// parser takes quadratic time on hostile text and a stack for every level. The
// package opens no files and starts no goroutines.
package yamlfile
