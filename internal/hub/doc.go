// Package hub is a hub's side of docs/fleet-protocol.md: the agents that it knows ([Registry]),
// requests to them, trials that run on them ([Hub.Place]) against servers that they run
// ([Hub.Serve]), the documents that they deliver ([Hub.Take]), and hosts that are reserved over all
// campaigns ([Reservations]).
//
// It is given a connection to the broker and a store. Admission, certificates and the broker itself
// are for its caller, as are the journals of campaigns.
//
// Messages of agents are bounded before they are decoded. Its identity is that of the subject, which the
// broker enforces; an answer is only sent to a subject of the agent that asked.
//
// Goroutines: a [Hub] has one that commits documents, one that watches for silent agents, one for each
// comparison of a clock and one for each document that is read, all bounded. They end before
// [Hub.Close] returns. Run of a place waits for those that it starts. A panic in any of them is
// logged, and ends only what the goroutine did.
package hub
