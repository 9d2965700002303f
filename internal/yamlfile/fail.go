package yamlfile

import (
	"strings"

	"soku/internal/measure"
)

// Fail is the failure of a code, of kind file, at a place.
func (f *File) Fail(at Place, code string, figures measure.Figures) *measure.Error {
	return f.failAt(at, "", code, figures)
}

// failAt is Fail with the path of the value in the sentence.
func (f *File) failAt(at Place, path, code string, figures measure.Figures) *measure.Error {
	return f.Locate(at, path, measure.Fail(measure.KindFile, code, figures))
}

// FailAt is the failure of a code, of kind file, at the value of a path such as
// tests.rtt.duration, or at the nearest value above it that is written in the file.
func (f *File) FailAt(path, code string, figures measure.Figures) *measure.Error {
	return f.Fail(f.nearest(path), code, figures)
}

// Locate is what is wrong at a place, as a failure of kind file with that place. The
// sentence names the path of the value unless it is empty. The hint is that of the
// cause, or the one of the format.
func (f *File) Locate(at Place, path string, cause error) *measure.Error {
	wrong := measure.AsError(cause, measure.KindFile)
	var e *measure.Error
	if path == "" {
		e = measure.Fail(measure.KindFile, "yaml.located", measure.Figures{
			"file": f.name, "line": at.Line, "column": at.Column, "cause": wrong,
		})
	} else {
		e = measure.Fail(measure.KindFile, "yaml.located_value", measure.Figures{
			"file": f.name, "line": at.Line, "column": at.Column, "path": path, "cause": wrong,
		})
	}
	if e.Hint == "" && f.format.HintCode != "" {
		e = e.WithHintCode(f.format.HintCode, nil)
	}
	return e
}

// LocateAt is Locate at the value of a path, or at the nearest value above it that is
// written in the file.
func (f *File) LocateAt(path string, cause error) *measure.Error {
	return f.Locate(f.nearest(path), path, cause)
}

// nearest is the place of a path, or of the nearest value above it that is written in
// the file.
func (f *File) nearest(path string) Place {
	for {
		if at, ok := f.places[path]; ok {
			return at
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return Start
		}
		path = path[:i]
	}
}
