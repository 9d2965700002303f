package iperf3

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// number reads the decimal number at the start of v and returns what follows.
func number(v string) (f float64, rest string, ok bool) {
	v = strings.TrimSpace(v)
	n := 0
	for n < len(v) && (v[n] >= '0' && v[n] <= '9' || v[n] == '.' || n == 0 && (v[n] == '+' || v[n] == '-')) {
		n++
	}
	if n < len(v) && n > 0 && (v[n] == 'e' || v[n] == 'E') {
		if e := exponent(v[n+1:]); e > 0 {
			n += 1 + e
		}
	}
	f, err := strconv.ParseFloat(v[:n], 64)
	return f, v[n:], err == nil
}

// exponent is how many bytes of v are the digits of one, with a sign.
func exponent(v string) int {
	n := 0
	if n < len(v) && (v[n] == '+' || v[n] == '-') {
		n++
	}
	digits := 0
	for n < len(v) && v[n] >= '0' && v[n] <= '9' {
		n, digits = n+1, digits+1
	}
	if digits == 0 {
		return 0
	}
	return n
}

// scaled reads a number with a suffix k, m, g or t, each base times the one before.
func scaled(v string, base float64) (int64, error) {
	f, rest, ok := number(v)
	wrong := problem("invalid unit value or suffix: '%s'", v)
	if !ok || f < 0 {
		return 0, wrong
	}
	if rest != "" {
		power := strings.IndexByte("kmgt", rest[0]|0x20)
		if power < 0 {
			return 0, wrong
		}
		f *= math.Pow(base, float64(power+1))
	}
	if f >= math.MaxInt64 {
		return 0, wrong
	}
	return int64(f), nil
}

// amount reads bytes or a count: suffixes are powers of 1024.
func amount(v string) (int64, error) { return scaled(v, 1024) }

// rate reads bits a second: suffixes are powers of 1000.
func rate(v string) (int64, error) { return scaled(v, 1000) }

// quantity writes a number of bytes as iperf3 does, in four places: as bytes for
// a letter in upper case, as bits for one in lower case. A and a pick the unit.
func quantity(bytes float64, letter byte) string {
	bits := letter >= 'a'
	f, base, unit := bytes, 1024.0, "Byte"
	if bits {
		f, base, unit = bytes*8, 1000.0, "bit"
	}
	power := strings.IndexByte("BKMGT", letter&^0x20)
	if power < 0 {
		power = 0
		for t := f; t >= base && power < 4; power++ {
			t /= base
		}
	}
	f /= math.Pow(base, float64(power))
	if power > 0 {
		unit = string("KMGT"[power-1]) + unit
	}
	switch {
	case f < 9.995:
		return fmt.Sprintf("%4.2f %s", f, unit)
	case f < 99.95:
		return fmt.Sprintf("%4.1f %s", f, unit)
	}
	return fmt.Sprintf("%4.0f %s", f, unit)
}
