package ssh

import (
	"strings"

	"soku/internal/measure"
)

// Platform is what a program is built for.
type Platform struct{ OS, Arch string } // as GOOS and GOARCH

// String is OS/ARCH.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

var systems = map[string]string{"Linux": "linux", "Darwin": "darwin"}

var architectures = map[string]string{
	"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64",
}

// platformOf is the platform with these names of uname -s and uname -m.
func platformOf(destination, system, machine string) (Platform, error) {
	p := Platform{systems[system], architectures[machine]}
	// Shells for Windows name it so: MINGW64_NT-10.0, MSYS_NT-10.0, CYGWIN_NT-10.0.
	if strings.Contains(system, "_NT") {
		return p, measure.Fail(measure.KindUsage, "ssh.windows", measure.Figures{"destination": destination})
	}
	if p.OS == "" || p.Arch == "" {
		return p, measure.Fail(measure.KindUsage, "ssh.platform", measure.Figures{"destination": destination, "platform": shown(system + " " + machine)})
	}
	return p, nil
}
