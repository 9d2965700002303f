// Package enrol decides who may join a hub, and what each may say at the broker.
//
// An [Authority] has the keys that sign JWTs of NATS: those of an operator, whom a broker trusts, of the
// system account and of one account for the fleet. A [Registry] keeps agents and join tokens in the
// database of a store. A [Service] is both, with the HTTP handler by which agents join and renew their
// JWTs, and with revocation. docs/fleet-protocol.md specifies requests, answers and bounds.
//
// The package knows NATS as a client only: package broker runs a server by what an Authority signed, and
// so does any nats-server of version 2.9.10 or later with the configuration of [Service.NATSConfig].
//
// It starts no goroutines.
package enrol
