// Package users keeps the people of a hub in the database of its store: names, passwords, roles, sessions,
// tokens for programs, and a log of what they did. The hub's pages and its API ask it who somebody is.
//
// Passwords are kept as argon2id, everything else that is secret as SHA-256: those have more randomness than
// can be guessed. The package starts no goroutines.
package users
