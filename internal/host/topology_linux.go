package host

import (
	"strings"

	"soku/internal/measure"
)

// processor returns how the online processors share cores, sockets and memory, or nil if the
// system does not report it.
func (t tree) processor() *measure.Processor {
	const cpus = "/sys/devices/system/cpu/"
	var logical int
	cores, sockets := map[string]bool{}, map[string]bool{}
	for _, name := range t.names(cpus) {
		if !isNumbered(name, "cpu") {
			continue
		}
		core, socket := t.read(cpus+name+"/topology/core_id"), t.read(cpus+name+"/topology/physical_package_id")
		if core == "" || socket == "" {
			continue // offline
		}
		logical++
		// Cores are numbered within a die, dies within a socket.
		cores[socket+"/"+t.read(cpus+name+"/topology/die_id")+"/"+core] = true
		sockets[socket] = true
	}
	if logical == 0 {
		return nil
	}
	p := &measure.Processor{Sockets: len(sockets), Cores: len(cores)}
	smt := logical > len(cores)
	p.SMT = &smt
	for _, name := range t.names("/sys/devices/system/node") {
		if isNumbered(name, "node") {
			p.NUMANodes++
		}
	}
	return p
}

// isNumbered reports whether name is the prefix and a number.
func isNumbered(name, prefix string) bool {
	digits, ok := strings.CutPrefix(name, prefix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}
