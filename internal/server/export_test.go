package server

// Sniffed and MaxSniffed are the limits of the bytes that identify a protocol.
const (
	Sniffed    = sniffed
	MaxSniffed = maxSniffed
)

// Recognise returns the name of the protocol that begins with first, soku's own before
// those, or "", and how many bytes more it wants to see.
func Recognise(foreign []Protocol, first []byte) (name string, more int) {
	rows := (&Server{}).native()
	for _, p := range foreign {
		rows = append(rows, &protocol{name: p.Name(), match: p.Match})
	}
	p, more := recognise(rows, first)
	if p == nil {
		return "", 0
	}
	return p.name, more
}
