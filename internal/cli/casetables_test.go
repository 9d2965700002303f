package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const casesDir = "../../examples/cases"

// publishedFigure is one figure of a published table and where a report must have it.
type publishedFigure struct {
	column  string // of the published table
	label   string
	factors map[string]string
	csv     string // column of the report's CSV
	json    string // key of the figure in the report's JSON
	end     string // of the spread: mean, min or max
	table   string // column of the report's table without its unit
	base    float64
	rebuild func(base float64) string // as the study wrote it, or nil for a plain number
}

// caseTable says how a published table comes out of a report.
type caseTable struct {
	study    string // its folder, and the campaign
	name     string
	results  int
	patterns int
	factors  map[string]string // column of the table -> factor
	figures  func(row map[string]string) []publishedFigure
}

func caseTables() []caseTable {
	throughput := func(column, label string, unit float64, extra map[string]string) func(map[string]string) publishedFigure {
		return func(row map[string]string) publishedFigure {
			return publishedFigure{column: column, label: label, factors: extra, csv: "goodput_mean_bps", json: "goodput_bps", end: "mean", table: "goodput", base: atof(row[column]) * unit}
		}
	}
	all := func(list ...func(map[string]string) publishedFigure) func(map[string]string) []publishedFigure {
		return func(row map[string]string) (out []publishedFigure) {
			for _, f := range list {
				out = append(out, f(row))
			}
			return out
		}
	}
	meanOfPing := func(column, iface string) func(map[string]string) publishedFigure {
		return func(row map[string]string) publishedFigure {
			return publishedFigure{column: column, label: "ping", factors: map[string]string{"interface": iface}, csv: "rtt_reported_mean_ns", json: "rtt_reported_mean_ns", end: "mean", table: "mean", base: atof(row[column]) * 1e6}
		}
	}
	limit := func(column string, unit float64, extra map[string]string) func(map[string]string) publishedFigure {
		return func(row map[string]string) publishedFigure {
			return publishedFigure{column: column, label: "throughput", factors: extra, csv: "limit", json: "limit", table: "limit", base: atof(row[column]) * unit}
		}
	}
	end := func(column, label, csvColumn, which string) func(map[string]string) publishedFigure {
		return func(row map[string]string) publishedFigure {
			return publishedFigure{column: column, label: label, csv: csvColumn, json: "rtt_reported_mean_ns", end: which, table: "run means", base: atof(row[column]) * 1e6}
		}
	}
	return []caseTable{
		{"vm-bandwidth-cap", "vm-bandwidth-cap", 11, 11, map[string]string{
			"path": "path", "gateway_sku": "gateway SKU", "circuit_mbps": "circuit (Mbit/s)", "parallel": "streams",
		}, all(throughput("mbit_per_second", "throughput", 1e6, nil), limit("published_limit_mbps", 1e6, nil))},
		{"expressroute-latency", "expressroute-latency", 40, 10, map[string]string{
			"sku": "gateway SKU", "fastpath": "FastPath", "gateway_zone": "gateway zone", "vm_zone": "VM zone",
		}, all(
			end("run60_low_ms", "one run of 60 s", "rtt_reported_mean_low_ns", "min"), end("run60_high_ms", "one run of 60 s", "rtt_reported_mean_high_ns", "max"),
			end("repeat_low_ms", "runs of 10 s", "rtt_reported_mean_low_ns", "min"), end("repeat_high_ms", "runs of 10 s", "rtt_reported_mean_high_ns", "max"),
		)},
		{"interface-matrix", "interface-matrix-throughput", 27, 27, map[string]string{"instance_type": "instance type"}, all(
			limit("published_gbps", 1e9, map[string]string{"interface": "VLAN"}),
			throughput("public_ip_gbps", "throughput", 1e9, map[string]string{"interface": "public IP"}),
			throughput("vlan_gbps", "throughput", 1e9, map[string]string{"interface": "VLAN"}),
			throughput("vpc_gbps", "throughput", 1e9, map[string]string{"interface": "VPC"}),
		)},
		{"interface-matrix", "interface-matrix-ping", 27, 27, map[string]string{"instance_type": "instance type"}, all(
			meanOfPing("public_ip_ms", "public IP"), meanOfPing("vlan_ms", "VLAN"), meanOfPing("vpc_ms", "VPC"),
		)},
		{"accelerated-networking", "accelerated-networking-throughput", 2, 2, map[string]string{"accelerated_networking": "accelerated networking"}, all(
			throughput("mbit_per_second", "throughput", 1e6, nil), throughput("megabytes_per_second", "throughput", 8e6, nil),
		)},
		{"accelerated-networking", "accelerated-networking-copy", 6, 6, map[string]string{"accelerated_networking": "accelerated networking", "disk": "disk", "files": "files"},
			func(row map[string]string) []publishedFigure {
				minutes, secs, _ := strings.Cut(row["duration"], ":")
				s := atof(minutes)*60 + atof(secs)
				return []publishedFigure{
					{column: "duration", label: "file copy", csv: "duration_mean_ns", json: "duration_ns", end: "mean", table: "time", base: s * 1e9, rebuild: func(ns float64) string {
						return fmt.Sprintf("%d:%02d", int(ns/1e9)/60, int(ns/1e9)%60)
					}},
					// The amount comes back as goodput times the published duration.
					{column: "total_gb", label: "file copy", csv: "goodput_mean_bps", json: "goodput_bps", end: "mean", table: "goodput", base: atof(row["total_gb"]) * 8e9 / s},
				}
			}},
	}
}

func atof(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return v
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Abs(b) }
