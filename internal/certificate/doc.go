// Package certificate makes certificates that sign themselves, and has clients trust one by its SHA-256.
package certificate
