// Package broker is a NATS server inside the hub, by which agents that package enrol admitted exchange messages with
// it. It is the only package that knows the server: agents and the hub are clients of it as of any other.
//
// The server trusts one operator: it has no users of its own, and takes changes of accounts from a connection of the
// system account alone. It listens with TLS only; connections by WebSocket come through the HTTPS server of the hub
// ([Broker.WebSocket]). It has no JetStream, no monitoring port and no cluster; who needs several brokers runs
// nats-server with the configuration that package enrol writes.
//
// Goroutines: those of the server, which end before Close returns.
package broker
