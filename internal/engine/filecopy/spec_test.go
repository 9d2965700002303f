package filecopy

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestOptionsThatDoNotGoTogetherAreRefused(t *testing.T) {
	for code, edit := range map[string]func(o *measure.Options, own *Options){
		"copy.bidirectional":  func(o *measure.Options, _ *Options) { o.Direction = measure.Bidirectional },
		"copy.streams":        func(o *measure.Options, _ *Options) { o.Streams = 65 },
		"copy.no_files":       func(_ *measure.Options, own *Options) { own.Files = 0 },
		"copy.folder_reverse": func(o *measure.Options, own *Options) { o.Direction, own.Folder = measure.Reverse, "x" },
		"copy.to_reverse":     func(o *measure.Options, own *Options) { o.Direction, own.To = measure.Reverse, "x" },
		"copy.to_network":     func(_ *measure.Options, own *Options) { own.To, own.Stage = "x", measure.StageNetwork },
		"copy.to_connection":  func(o *measure.Options, own *Options) { o.Rate, own.To = 1e9, "x" },
		"copy.folder_disk":    func(_ *measure.Options, own *Options) { own.Folder, own.Disk = "x", "y" },
		"option.not_of_test":  func(o *measure.Options, _ *Options) { o.Pin = "on" },
		"copy.bytes":          func(_ *measure.Options, own *Options) { own.Files, own.FileSize = 1e6, 1<<40 },
		"copy.path":           func(_ *measure.Options, own *Options) { own.Disk = "a\x00b" },
	} {
		o := option.Defaults(measure.TestCopy)
		own := OptionsOf(o)
		edit(&o, &own)
		o.Own = own
		_, err := option.Effective(o, measure.TestCopy)
		wantCode(t, err, code)
	}
}
