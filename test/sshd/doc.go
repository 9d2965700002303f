// Package sshd runs the real sshd of OpenSSH for tests, with keys and a home of its own.
package sshd
