package iperf3

import "strings"

// conversions are the letters after "%" of strftime(3) that --timestamps takes.
const conversions = "aAbBcdDeFhHIjklmMnprRsStTuwxXyYzZ%"

// unknownConversion is the first unsupported conversion in format, or empty.
func unknownConversion(format string) string {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i == len(format) {
			return "%"
		}
		if !strings.Contains(conversions, format[i:i+1]) {
			return format[i-1 : i+1]
		}
	}
	return ""
}
