package messages

import "testing"

// People read figures without exponents, however large or small.
func TestAFigureIsWrittenWithoutAnExponent(t *testing.T) {
	for _, c := range []struct {
		digits int
		v      float64
		want   string
	}{
		{3, 2063.4, "2063"},
		{3, 1000, "1000"},
		{3, 999.6, "1000"},
		{3, 99.96, "100"},
		{3, 1.234, "1.23"},
		{3, -0.5, "-0.5"},
		{3, 0, "0"},
		{3, 0.00000125, "0.00000125"},
		{2, 99.7, "100"},
	} {
		if got := significant(c.digits, c.v); got != c.want {
			t.Errorf("%v with %d digits: %s, want %s", c.v, c.digits, got, c.want)
		}
	}
	if got := times(99.7); got != "100" {
		t.Errorf("99.7 times: %s, want 100", got)
	}
}
