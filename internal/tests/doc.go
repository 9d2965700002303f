// Package tests is the registry of what soku can measure: one file a test, its
// descriptor. A descriptor binds the declaration that the test's engine registers
// ([option.Spec]: options, defaults, rules) to what runs the test at either end and to
// what shows it: the live table and the summary. A new test is a package under engine and
// one file here; its sentences are a file of the catalogue (help.NAME.short, .long and
// .example, summary.test.NAME and plan.test.NAME).
//
// Packages that need every test to be registered import this package.
//
// Use: package trial runs a test at the client and package server at the other end; both
// ask the descriptor.
//
//	d := tests.Of(measure.TestTCP)
//	end, err := d.Open(ctx, session, options)   // the data connections
//	half, err := end.Run(ctx, options, flow)    // what the client counted
//	half, err = d.Serve(ctx, serverEnd)         // what the server counted
//	d.Summary(&lines, result)                   // the lines that show both
//
// A test without a server, such as ping, has Serverless in place of Open and Serve.
package tests
