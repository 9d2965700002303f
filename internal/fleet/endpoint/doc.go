// Package endpoint is what a host is for a campaign: a server for its trials, the report that
// it is ready, and a clock that is compared with that of the campaign's machine.
//
// [Serve] is the host's end; [Wish], [Ready], [Request] and [Answer] are what passes between
// both ends, and [CompareClocks] is the other end's use of it. Another
// package connects the two, such as fleet/ssh. Package endpoint runs no trials.
//
// Goroutines: an [Endpoint] that runs has two, one for the server and one that answers
// requests. The first ends before Run returns; the second ends with the input.
package endpoint
