// Package service is a hub as one process: its database, its broker, its agents, its campaigns and its
// HTTPS server. Other packages do the work; this one opens them in their order, connects them and closes them.
package service
