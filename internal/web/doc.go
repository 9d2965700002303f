// Package web is the hub's HTTPS server: its API for programs and the doors for agents.
//
// Paths below /api/v1/agents/ that docs/fleet-protocol.md names are for agents, which prove who they are
// with their keys. All others are for people and ask for a token (Authorization: Bearer TOKEN). Bodies
// are JSON; a failure has a status of 400 or more and the member error.
//
// The package starts no goroutines but those of net/http.
package web
