// An assembly file lets a package declare functions without a body, which
// runtime_linux.go links to the runtime's.

//go:build linux && (amd64 || arm64) && !race && !plainloops
