package option

import (
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
)

// Pinning is what the option pin asks of one end: that each loop that moves packets
// is kept on one processor.
type Pinning struct {
	On   bool
	CPUs []int // ascending numbers as the system has them; none for all that the process may use
}

// mostCPU is the highest processor number that can be named.
const mostCPU = 1023

// longestPin bounds the text of the option, in bytes.
const longestPin = 1024

// ParsePin reads the option pin: "off" or nothing, "auto", or processors such as
// "2,3" or "0-3,8", for both ends; or two of these with a slash between them, the
// client's and the server's. An error has kind usage.
func ParsePin(text string) (client, server Pinning, err error) {
	if len(text) > longestPin {
		return client, server, measure.Fail(measure.KindUsage, "option.pin.long", measure.Figures{"length_bytes": len(text), "most_bytes": longestPin})
	}
	own, far, two := strings.Cut(text, "/")
	if client, err = parsePinning(own); err != nil {
		return client, server, err
	}
	if !two {
		far = own
	}
	server, err = parsePinning(far)
	return client, server, err
}

func parsePinning(text string) (Pinning, error) {
	switch text = strings.TrimSpace(text); text {
	case "", "off":
		return Pinning{}, nil
	case "auto":
		return Pinning{On: true}, nil
	}
	p := Pinning{On: true}
	for _, part := range strings.Split(text, ",") {
		first, last, run := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseUint(first, 10, 16)
		to := from
		if run && err == nil {
			to, err = strconv.ParseUint(last, 10, 16)
		}
		if err != nil || from > to || to > mostCPU {
			return Pinning{}, measure.Fail(measure.KindUsage, "option.pin.processor", measure.Figures{"text": part, "highest": mostCPU})
		}
		for n := from; n <= to; n++ {
			if slices.Contains(p.CPUs, int(n)) {
				return Pinning{}, measure.Fail(measure.KindUsage, "option.pin.twice", measure.Figures{"processor": n})
			}
			p.CPUs = append(p.CPUs, int(n))
		}
	}
	slices.Sort(p.CPUs)
	return p, nil
}

// FormatCPUs writes processor numbers as the option pin has them, each once: "0-3,8".
func FormatCPUs(cpus []int) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(cpus)))
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		part := strconv.Itoa(sorted[i])
		if j > i {
			part += "-" + strconv.Itoa(sorted[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
