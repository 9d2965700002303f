// Package web is the hub's HTTPS server: its pages, its API for programs and the doors for agents.
//
// Paths below /api/v1/agents/ that docs/fleet-protocol.md names are for agents, which prove who they are
// with their keys. Other paths below /api/ are for programs, which give a token (Authorization: Bearer TOKEN); bodies
// are JSON, and a failure has a status of 400 or more and the member error. All others are pages for people, who log
// in. What a person or a program may do is said by its role (package hub/users).
//
// Every page works without scripts. The one of a campaign that runs has one, by which it shows changes that the hub sends
// (docs/decisions/0014); the Content-Security-Policy allows no other.
// Requests that change something are refused if they come from another site's page.
//
// The package starts no goroutines but those of net/http.
package web
