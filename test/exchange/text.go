package exchange

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const firstLine = "soku exchange 1"

var errText = errors.New("not a recorded exchange")

// Read reads a file. A file with invalid syntax, or larger than the limits, is an error
// that names the line.
func Read(r io.Reader) (*Exchange, error) {
	x, total := &Exchange{}, 0
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 0, maxLine), maxLine)
	for n := 1; scanner.Scan(); n++ {
		line := scanner.Text()
		if n == 1 {
			if line != firstLine {
				return nil, fmt.Errorf("line 1: %w", errText)
			}
			continue
		}
		if total += len(line); total > 3*maxBytes || len(x.Steps) > maxSteps || len(x.Notes) > maxConns {
			return nil, fmt.Errorf("line %d: too much for one exchange", n)
		}
		if err := x.readLine(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *Exchange) readLine(line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	if note, ok := strings.CutPrefix(line, "note "); ok {
		x.Notes = append(x.Notes, note)
		return nil
	}
	if rest, ok := strings.CutPrefix(line, "+ "); ok {
		b, err := hex.DecodeString(rest)
		if err != nil || len(x.Steps) == 0 || x.Steps[len(x.Steps)-1].Kind != Bytes {
			return errText
		}
		last := &x.Steps[len(x.Steps)-1]
		last.Bytes = append(last.Bytes, b...)
		return nil
	}
	words := strings.Split(line, " ")
	if len(words) < 3 || words[1] != string(Client) && words[1] != string(Server) {
		return errText
	}
	conn, err := strconv.Atoi(words[0])
	if err != nil {
		return errText
	}
	s, err := readStep(words[2:])
	if err != nil {
		return err
	}
	s.Conn, s.From = conn, From(words[1][0])
	x.Steps = append(x.Steps, s)
	return nil
}

func readStep(words []string) (s Step, err error) {
	switch kind := Kind(words[0]); {
	case kind == Open && len(words) == 3 && (words[1] == "tcp" || words[1] == "udp"):
		port, err := strconv.ParseUint(words[2], 10, 16)
		if err != nil {
			return s, errText
		}
		return Step{Kind: Open, Network: words[1], Port: int(port)}, nil
	case kind == More && len(words) == 2:
		n, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil || n < 0 {
			return s, errText
		}
		return Step{Kind: More, N: n}, nil
	case (kind == End || kind == Reset) && len(words) == 1:
		return Step{Kind: kind}, nil
	case len(words) == 1:
		b, err := hex.DecodeString(words[0])
		if err != nil {
			return s, errText
		}
		return Step{Kind: Bytes, Bytes: b}, nil
	}
	return s, errText
}

// WriteTo writes the file that [Read] reads.
func (x *Exchange) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	fmt.Fprintln(&b, firstLine)
	for _, note := range x.Notes {
		fmt.Fprintf(&b, "note %s\n", strings.ReplaceAll(note, "\n", " "))
	}
	for _, s := range x.Steps {
		fmt.Fprintf(&b, "%d %c ", s.Conn, s.From)
		switch s.Kind {
		case Open:
			fmt.Fprintf(&b, "open %s %d\n", s.Network, s.Port)
		case More:
			fmt.Fprintf(&b, "more %d\n", s.N)
		case Bytes:
			for rest := s.Bytes; ; {
				n := min(len(rest), rowBytes)
				fmt.Fprintf(&b, "%x\n", rest[:n])
				if rest = rest[n:]; len(rest) == 0 {
					break
				}
				fmt.Fprint(&b, "+ ")
			}
		default:
			fmt.Fprintln(&b, s.Kind)
		}
	}
	return b.WriteTo(w)
}
