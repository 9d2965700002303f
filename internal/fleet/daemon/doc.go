// Package daemon is the agent of a hub: the process that joins a hub, stays connected to it, runs
// the trials that the hub orders and keeps their results until the hub has them. Its protocol is in
// docs/fleet-protocol.md, what a person needs in docs/reference/agent.md. The package measures
// nothing: a trial is a process of its own, by package agent, and so is a server for others, by
// package endpoint. What the owner of the host allows ([Policy]) is enforced here, whatever the hub
// orders.
//
// [Run] is all of it. One goroutine owns the connection: it joins, connects, greets the hub, sends
// beats and begins again when the connection is lost. Each connection has one that reads orders, which
// starts at most [mostOrders] for the orders themselves, and one while the permission is renewed. One sends results from
// the spool, with at most [mostDeliveries]. A trial and a server have a few each. All have ended
// when Run returns.
package daemon
