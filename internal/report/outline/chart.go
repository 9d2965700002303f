package outline

// Charts are the drawings of a block.
type Charts struct {
	Panels  bool // small ones in rows, each with its caption above; otherwise below each other
	Legend  []Legend
	Figures []Figure
}

// Figure is one or two variants of a chart with its caption.
type Figure struct {
	Caption string
	Charts  []Chart
	Legend  []Legend
}

// Hues is how many colours and shapes of marks a format has.
const Hues = 8

// NoHue is the series of what has the colour of texts.
const NoHue = -1

// Legend names the colour of marks, or of lines with their dashes.
type Legend struct {
	Series int
	Dash   int
	Mark   bool // a mark, not a line
	Text   string
}

// Chart is a drawing in pixels. Colours, strokes and fonts are the format's.
type Chart struct {
	ID            string
	Class         string // "wide" or "narrow" where both exist and a page shows one
	Title, Desc   string
	Width, Height float64
	Plot          Box
	XTicks        []Tick
	YTicks        []Tick
	XTitle        string
	YTitle        string
	Bands         []Shape
	Lines         []Shape
	Marks         []Shape
	Texts         []ChartText
}

// Box is the room between axes.
type Box struct{ Left, Top, Right, Bottom float64 }

// Tick is a mark of an axis.
type Tick struct {
	At     float64
	Text   string
	Anchor string // start, middle or end
}

// Shape is a rectangle, a path or a mark. Series, 0 to Hues-1 or NoHue, picks the colour and the shape of
// a mark, Dash, 0 to Hues-1, the dashes of a curve.
type Shape struct {
	Class      string
	Series     int
	Dash       int
	Title      string // tooltip
	X, Y, W, H float64
	D          string // path data of SVG
}

// ChartText is a text at a place.
type ChartText struct {
	X, Y          float64
	Anchor, Class string
	Text, Title   string
}
