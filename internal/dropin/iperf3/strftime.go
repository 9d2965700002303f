package iperf3

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layout is the time.Format layout of a conversion of strftime(3) in the C
// locale; empty where there is none.
func layout(conversion byte) string {
	switch conversion {
	case 'a':
		return "Mon"
	case 'A':
		return "Monday"
	case 'b', 'h':
		return "Jan"
	case 'B':
		return "January"
	case 'c':
		return "Mon Jan _2 15:04:05 2006"
	case 'd':
		return "02"
	case 'D', 'x':
		return "01/02/06"
	case 'e':
		return "_2"
	case 'F':
		return "2006-01-02"
	case 'H':
		return "15"
	case 'I':
		return "03"
	case 'j':
		return "002"
	case 'm':
		return "01"
	case 'M':
		return "04"
	case 'p':
		return "PM"
	case 'r':
		return "03:04:05 PM"
	case 'R':
		return "15:04"
	case 'S':
		return "05"
	case 'T', 'X':
		return "15:04:05"
	case 'y':
		return "06"
	case 'Y':
		return "2006"
	case 'z':
		return "-0700"
	case 'Z':
		return "MST"
	}
	return ""
}

// conversion is one letter after "%" of strftime(3).
func conversion(t time.Time, letter byte) (string, bool) {
	switch letter {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 's':
		return strconv.FormatInt(t.Unix(), 10), true
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1), true
	case 'w':
		return strconv.Itoa(int(t.Weekday())), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), true
	}
	l := layout(letter)
	return t.Format(l), l != ""
}

// strftime writes t by a format whose conversions are known.
func strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		text, _ := conversion(t, format[i])
		b.WriteString(text)
	}
	return b.String()
}

// unknownConversion is the first part of format that strftime here cannot write.
func unknownConversion(format string) string {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i == len(format) {
			return "%"
		}
		if _, ok := conversion(time.Time{}, format[i]); !ok {
			return format[i-1 : i+1]
		}
	}
	return ""
}
