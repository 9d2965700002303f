package filecopy

import (
	"path/filepath"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
)

// Options are those that only the copy test has.
type Options struct {
	Files    int          `json:"files,omitempty" yaml:"files" flag:"files" max:"1000000" help:"how many files to make and copy"`
	FileSize measure.Size `json:"file_size_bytes,omitempty" yaml:"file_size" flag:"file-size" max:"17592186044416" help:"bytes of each of them"`
	Folder   string       `json:"folder,omitempty" yaml:"folder" flag:"folder" help:"copy the files of this folder of the client instead of making some"`
	Disk     string       `json:"disk_folder,omitempty" yaml:"disk_folder" flag:"disk" help:"folder of the client in which files are made, or with --direction reverse written; its disk is measured (default: the current folder)"`
	To       string       `json:"to_folder,omitempty" yaml:"to_folder" flag:"to" help:"copy to this local folder, such as a mount of SMB or NFS, instead of a soku server"`
	Stage    string       `json:"stage,omitempty" yaml:"stage" flag:"stage" enum:"all apart read network write" help:"all: the whole copy; read, network or write: only that, with memory in place of the rest; apart: each alone, then the whole copy"`
	Sync     string       `json:"sync,omitempty" yaml:"sync" flag:"sync" enum:"end file off" help:"flush what was written to the device: once at the end, each file, or off; the time counts"`
	Direct   bool         `json:"direct,omitempty" yaml:"direct" flag:"direct" help:"bypass the page cache when reading and writing (O_DIRECT, Linux)"`
	Cache    string       `json:"cache,omitempty" yaml:"cache" flag:"cache" enum:"cold warm" help:"page cache before files are read: cold (their pages are dropped) or warm (left as it is)"`
	Checksum string       `json:"checksum,omitempty" yaml:"checksum" flag:"checksum" enum:"sha256 crc32c off" help:"verify every file at the far end; local copies are read again and compared, which does not count"`
}

// OptionsOf returns the options that only the copy test has.
func OptionsOf(o measure.Options) Options { return measure.OwnOptions[Options](o) }

// apart is the value of the option stage that runs every stage.
const apart = "apart"

// off is the value of options for what is left out.
const off = "off"

var _ = option.Register(option.Spec{
	Name: measure.TestCopy, Place: 80,
	Options: slices.Concat(option.NetworkKeys, []string{
		"via", "port", "interval", "direction", "streams", "rate", "window", "congestion", "series",
	}),
	Own:         defaultOwn(),
	Defaults:    defaults(),
	Fill:        fill,
	Check:       check,
	Server:      true,
	Resumes:     true,
	External:    local,
	Hostless:    local,
	Connections: func(o measure.Options) int { return o.Streams },
	Length: func(o measure.Options) (measure.Duration, bool) {
		n, known := payload(o)
		if !known {
			return 0, false
		}
		return option.AmountLength(float64(n)*8, float64(o.Rate))
	},
	Payload: payload,
	Metrics: metric.Set{
		Families: []*metric.Family{metric.ThroughputFamily, metric.CopyFamily},
		Ranking:  []*metric.Definition{metric.Goodput},
		Headline: [][]*metric.Definition{{metric.Goodput}, {metric.CopyTime}},
	},
})

func defaultOwn() Options {
	return Options{Files: 1, FileSize: 1 << 30, Stage: measure.StageAll, Sync: "end", Cache: "cold", Checksum: "sha256"}
}

func defaults() measure.Options {
	o := option.Timed()
	o.Duration, o.Streams, o.Direction, o.Via, o.Series = 0, 1, measure.Forward, option.ViaSoku, measure.SeriesOn
	return o
}

// fill leaves out what a given folder has by itself.
func fill(o *measure.Options) {
	measure.EditOwn(o, func(own *Options) {
		if own.Folder != "" {
			own.Files, own.FileSize = 0, 0
		}
	})
}

// local reports whether no server takes part: files go to a local folder, or are only read.
func local(o measure.Options) bool {
	own := OptionsOf(o)
	return own.To != "" || own.Stage == measure.StageRead && o.Direction != measure.Reverse
}

// payload is how many bytes cross the network.
func payload(o measure.Options) (bytes int64, known bool) {
	own := OptionsOf(o)
	if local(o) {
		return 0, true
	}
	return own.bytes(), own.Folder == ""
}

// bytes are those of the files that are made for the copy.
func (o Options) bytes() int64 { return int64(o.Files) * int64(o.FileSize) }

// streamsMost bounds the memory of an end, with [blocksMost].
const streamsMost = 64

func check(o *measure.Options) error {
	own := OptionsOf(*o)
	switch {
	case o.Direction == measure.Bidirectional:
		return measure.Fail(measure.KindUsage, "copy.bidirectional", nil)
	case o.Streams > streamsMost:
		return measure.Fail(measure.KindUsage, "copy.streams", measure.Figures{"streams": o.Streams, "most": streamsMost})
	case own.Folder == "" && own.Files == 0:
		return measure.Fail(measure.KindUsage, "copy.no_files", nil)
	case own.Folder != "" && o.Direction == measure.Reverse:
		return measure.Fail(measure.KindUsage, "copy.folder_reverse", nil)
	case own.To != "" && o.Direction == measure.Reverse:
		return measure.Fail(measure.KindUsage, "copy.to_reverse", nil).WithHintCode("leave_out_one", nil)
	case own.To != "" && own.Stage == measure.StageNetwork:
		return measure.Fail(measure.KindUsage, "copy.to_network", nil).WithHintCode("leave_out_one", nil)
	case own.To != "" && (o.Rate > 0 || o.Window > 0 || o.Congestion != ""):
		return measure.Fail(measure.KindUsage, "copy.to_connection", nil).WithHintCode("leave_out_one", nil)
	case own.Folder != "" && own.Disk != "":
		return measure.Fail(measure.KindUsage, "copy.folder_disk", nil).WithHintCode("leave_out_one", nil)
	case float64(own.Files)*float64(own.FileSize) > bytesMost:
		return measure.Fail(measure.KindUsage, "copy.bytes", measure.Figures{"most_bytes": int64(bytesMost)})
	case strings.ContainsRune(own.Folder+own.Disk+own.To, 0):
		return measure.Fail(measure.KindUsage, "copy.path", nil)
	}
	return nil
}

// bytesMost is the largest set of files: 16 TiB.
const bytesMost = 1 << 44

// disk is the folder of this host whose disk is measured.
func (o Options) disk() string {
	if o.Disk == "" {
		return "."
	}
	return filepath.Clean(o.Disk)
}

// reads reports whether files are read.
func (o Options) reads() bool {
	return o.Stage != measure.StageNetwork && o.Stage != measure.StageWrite
}

// writes reports whether files are written.
func (o Options) writes() bool {
	return o.Stage != measure.StageNetwork && o.Stage != measure.StageRead
}

// verifies reports whether what was written is compared with what was read.
func (o Options) verifies() bool { return o.reads() && o.writes() && o.Checksum != off }

// stages are those that run, in order; of a local copy without the network's.
func stages(o measure.Options) []string {
	own := OptionsOf(o)
	switch {
	case own.Stage != apart:
		return []string{own.Stage}
	case own.To != "":
		return []string{measure.StageRead, measure.StageWrite, measure.StageAll}
	}
	return []string{measure.StageRead, measure.StageNetwork, measure.StageWrite, measure.StageAll}
}
