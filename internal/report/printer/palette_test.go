package printer

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"soku/internal/report/outline"
)

// vision is a matrix for linear sRGB.
type vision [3][3]float64

// The matrices of full dichromacy (severity 1.0) of Machado, Oliveira and Fernandes: A
// Physiologically-based Model for Simulation of Color Vision Deficiency, IEEE Transactions on
// Visualization and Computer Graphics 15 (2009), table of the supplement.
var visions = map[string]vision{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// linear is a colour, #rgb or #rrggbb, in linear sRGB (IEC 61966-2-1).
func linear(t *testing.T, colour string) (out [3]float64) {
	t.Helper()
	digits := strings.TrimPrefix(colour, "#")
	if len(digits) == 3 {
		digits = strings.Repeat(digits[:1], 2) + strings.Repeat(digits[1:2], 2) + strings.Repeat(digits[2:], 2)
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 {
		t.Fatalf("%q is no colour", colour)
	}
	for i := range out {
		v := float64(n>>(16-8*i)&255) / 255
		if out[i] = v / 12.92; v > 0.04045 {
			out[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return out
}

func (v vision) see(rgb [3]float64) (out [3]float64) {
	for i := range out {
		out[i] = min(max(v[i][0]*rgb[0]+v[i][1]*rgb[1]+v[i][2]*rgb[2], 0), 1)
	}
	return out
}

// lab is a colour in CIE 1976 L*a*b*, with the white of D65.
func lab(rgb [3]float64) [3]float64 {
	xyz := vision{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}
	var f [3]float64
	for i, white := range []float64{0.95047, 1, 1.08883} {
		v := (xyz[i][0]*rgb[0] + xyz[i][1]*rgb[1] + xyz[i][2]*rgb[2]) / white
		if f[i] = math.Cbrt(v); v <= 216.0/24389 {
			f[i] = (24389.0/27*v + 16) / 116
		}
	}
	return [3]float64{116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}
}

// apart is the distance of two colours (CIE76).
func apart(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// contrast is that of WCAG 2.2.
func contrast(a, b [3]float64) float64 {
	light := func(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05 }
	return max(light(a), light(b)) / min(light(a), light(b))
}

func TestColoursOfChartsAreToldApart(t *testing.T) {
	css, err := styles("chart.css", "report.css")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(css), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d sets of colours, want those of light and dark screens and of paper", len(blocks))
	}
	for i, b := range blocks {
		value := func(name string) [3]float64 {
			m := regexp.MustCompile(`--` + name + `: (#[0-9a-f]+);`).FindStringSubmatch(b[1])
			if m == nil {
				t.Fatalf("set %d has no --%s", i, name)
			}
			return linear(t, m[1])
		}
		paper := value("paper")
		for x := range outline.Hues {
			a := value(fmt.Sprintf("s%d", x))
			if c := contrast(a, paper); c < 3 {
				t.Errorf("set %d: the contrast of s%d to the page is %.2f", i, x, c)
			}
			for y := range x {
				b := value(fmt.Sprintf("s%d", y))
				for name, v := range visions {
					if d := apart(lab(v.see(a)), lab(v.see(b))); d < 12 {
						t.Errorf("set %d: with %s vision s%d and s%d are %.1f apart", i, name, x, y, d)
					}
				}
			}
		}
	}
}

func TestEachSeriesHasAShapeOfItsOwn(t *testing.T) {
	chart := outline.Chart{ID: "x"}
	for i := range outline.Hues {
		chart.Marks = append(chart.Marks, outline.Shape{Class: "dot", Series: i, X: 10, Y: 20})
	}
	legend := []outline.Legend{{Series: 3, Mark: true, Text: "marks"}, {Series: 2, Dash: 5, Text: "lines"}, {Series: outline.NoHue, Dash: 1, Text: "neutral"}}
	page := pageOf(t, &outline.Document{Sections: []outline.Section{{ID: "s", Blocks: []outline.Block{{Charts: &outline.Charts{Figures: []outline.Figure{{Charts: []outline.Chart{chart}, Legend: legend}}}}}}}})
	shapes := map[string]bool{}
	for i := range outline.Hues {
		m := regexp.MustCompile(fmt.Sprintf(`<path class="dot s%d" d="M10\.0 20\.0(m[^"]+z)">`, i)).FindStringSubmatch(page)
		if m == nil || shapes[m[1]] {
			t.Fatalf("series %d has no shape, or that of another: %q", i, m)
		}
		shapes[m[1]] = true
	}
	for _, want := range []string{`<path class="dot s3" d="M14 6` + marks[3] + `"/>`, `<path class="curve s2 d5" d="M0 6H28"/>`, `<path class="curve sn d1" d="M0 6H28"/>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the legend has no %s", want)
		}
	}
}
