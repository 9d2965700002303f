package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ingested is a store with both tables of the study of interfaces.
func ingested(t *testing.T) (store string) {
	t.Helper()
	store = filepath.Join(t.TempDir(), "soku.db")
	for _, name := range []string{"interface-matrix-throughput", "interface-matrix-ping"} {
		table := filepath.Join(casesDir, "interface-matrix", name)
		if _, errs, code := soku(t, "ingest", "--store", store, "--map", table+".yaml", table+".csv"); code != 0 {
			t.Fatal(errs)
		}
	}
	return store
}

// cellsUnder are the cells of the first table of a Markdown text below a heading.
func cellsUnder(text, heading string) (rows [][]string) {
	_, rest, _ := strings.Cut(text, "### "+heading+"\n")
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		var cells []string
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		if !strings.HasPrefix(cells[0], "---") {
			rows = append(rows, cells)
		}
	}
	return rows
}

func TestAPublishedMatrixComesBackWithPivot(t *testing.T) {
	store := ingested(t)
	out, errs, code := soku(t, "report", "interface-matrix", "--store", store, "--format", "md", "--pivot", "instance type,interface")
	if code != 0 {
		t.Fatal(errs)
	}
	columns := map[string]string{"public_ip": "public IP", "vlan": "VLAN", "vpc": "VPC"}
	for _, c := range []struct {
		file, heading, suffix string
		unit                  float64 // of the table in that of the report
	}{
		{"interface-matrix-throughput", "throughput: Goodput (Gbit/s) by instance type and interface, and % of the published limit", "_gbps", 1},
		{"interface-matrix-ping", "ping: Mean (µs) by instance type and interface", "_ms", 1000},
	} {
		cells := cellsUnder(out, c.heading)
		text, err := os.ReadFile(filepath.Join(casesDir, "interface-matrix", c.file+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		published := records(t, string(text))
		if len(cells) != 1+len(published) {
			t.Fatalf("%s: %d rows for %d\n%s", c.heading, len(cells), len(published), out)
		}
		for i, row := range published {
			got := map[string]string{}
			for j, name := range cells[0] {
				got[name] = cells[1+i][j]
			}
			if got["instance type"] != row["instance_type"] {
				t.Errorf("row %d is %s, published %s", i, got["instance type"], row["instance_type"])
			}
			for column, level := range columns {
				figure, share, limited := strings.Cut(got[level], " (")
				if want := row[column+c.suffix]; !near(atof(figure), atof(want)*c.unit, 1e-9) {
					t.Errorf("%s, %s: %s, published %s", row["instance_type"], level, got[level], want)
				}
				if limited != (c.suffix == "_gbps") || limited && !near(atof(strings.TrimSuffix(share, " %)")), 100*atof(row[column+c.suffix])/atof(row["published_gbps"]), 1e-3) {
					t.Errorf("%s, %s: %s, published limit %s", row["instance_type"], level, got[level], row["published_gbps"])
				}
			}
		}
	}
}

func TestPivotIsInThePageAndFitsATerminal(t *testing.T) {
	store := ingested(t)
	page, _, code := soku(t, "report", "interface-matrix", "--store", store, "--format", "html", "--pivot", "interface,instance type")
	if code != 0 || !strings.Contains(page, "Goodput (Gbit/s) by interface and instance type, and % of the published limit</h3>") || !strings.Contains(page, ">Premium 512 GB</th>") {
		t.Errorf("%d: no table in the page", code)
	}
	for _, width := range []int{80, 40} {
		sys, out, errs := fakeSystem(t, "report", "interface-matrix", "--store", store, "--full", "--pivot", "interface,instance type")
		sys.StdoutWidth = func() int { return width }
		if code := Run(sys); code != 0 {
			t.Fatal(errs)
		}
		pivot := regexp.MustCompile(`(?s)by\s+interface\s+and\s+instance\s+type.*?What each factor`).FindString(out.String())
		for line := range strings.Lines(out.String()) {
			if w := terminal.StringWidth(strings.TrimRight(line, "\n")); w > width {
				t.Errorf("%d columns of %d: %s", w, width, line)
			}
		}
		for _, size := range []string{"4", "8", "16", "32", "64", "96", "128", "256", "512"} {
			if !strings.Contains(pivot, "Premium "+size+" GB") {
				t.Errorf("%d columns: no Premium %s GB in\n%s", width, size, pivot)
			}
		}
	}
}

// The study's own conclusions: the instance sets the throughput, the interface does not; round
// trips differ between interfaces. The published limit of a type is no cause in addition to the type.
func TestAPublishedMatrixSaysWhatEachFactorDoes(t *testing.T) {
	store := ingested(t)
	out, errs, code := soku(t, "report", "interface-matrix", "--store", store, "--format", "md")
	if code != 0 {
		t.Fatal(errs)
	}
	for _, want := range []string{
		"Instance type sets the goodput: 3.01 × from Premium 4 GB to Premium 512 GB",
		"Interface makes no practical difference to the goodput: +0.5 % at most",
		"Interface changes the mean round trip: +17.1 % from VLAN to public IP",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	cells := cellsUnder(out, "throughput: What each factor does")
	if len(cells) != 3 || strings.Join(cells[1][:3], "|") != "instance type|yes|100.0 %" || strings.Join(cells[2][:4], "|") != "interface|no|0.0 %|1.005" {
		t.Errorf("%q", cells)
	}
}

func TestPivotShowsTheEndsOfPublishedRanges(t *testing.T) {
	store, table := filepath.Join(t.TempDir(), "soku.db"), filepath.Join(casesDir, "expressroute-latency", "expressroute-latency")
	if _, errs, code := soku(t, "ingest", "--store", store, "--map", table+".yaml", table+".csv"); code != 0 {
		t.Fatal(errs)
	}
	out, _, _ := soku(t, "report", "expressroute-latency", "--store", store, "--format", "md", "--pivot", "gateway SKU,FastPath")
	cells := cellsUnder(out, "one run of 60 s: Run means (ms) by gateway SKU and FastPath")
	if len(cells) != 10 || strings.Join(cells[9], "|") != "UltraPerformance|none|none|2.270 to 2.570|1.650 to 1.920" {
		t.Errorf("%q", cells)
	}
}

func TestPivotOfFactorsThatNoTestHasIsAnError(t *testing.T) {
	store := ingested(t)
	for args, want := range map[string]string{
		"instance type,interfaces": `no test has two factors "instance type,interfaces"`,
		"interface,interface":      "no test has two factors",
		"interface":                "two of: instance type, interface",
		"instance type,ınterf":     "no test has two factors",
	} {
		_, errs, code := soku(t, "report", "interface-matrix", "--store", store, "--pivot", args)
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s", args, code, errs)
		}
	}
	_, errs, code := soku(t, "report", "interface-matrix", "--store", store, "--format", "csv", "--pivot", "instance type,interface")
	if code != 2 || !strings.Contains(errs, "a report in csv has no such table") {
		t.Errorf("%d %s", code, errs)
	}
	// A test without both factors has no table, another has.
	store = filepath.Join(t.TempDir(), "soku.db")
	for _, name := range []string{"accelerated-networking-throughput", "accelerated-networking-copy"} {
		table := filepath.Join(casesDir, "accelerated-networking", name)
		if _, errs, code := soku(t, "ingest", "--store", store, "--map", table+".yaml", table+".csv"); code != 0 {
			t.Fatal(errs)
		}
	}
	out, errs, code := soku(t, "report", "accelerated-networking", "--store", store, "--pivot", "disk,files")
	if code != 0 || strings.Count(out, "by disk and files") != 1 {
		t.Errorf("%d %s\n%s", code, errs, out)
	}
}
