package ssh_test

import (
	"strings"
	"testing"

	"soku/internal/fleet/ssh"
	"soku/internal/measure"
)

func TestADestinationIsNoOption(t *testing.T) {
	for text, host := range map[string]string{
		"vm2": "vm2", "admin@vm2": "vm2", "a@b@vm2.example": "vm2.example", "ssh://admin@vm2:2222": "vm2",
		"ssh://[2001:db8::1]:22": "2001:db8::1", "admin@2001:db8::1": "2001:db8::1", `DOM\admin@vm2`: "vm2",
	} {
		if !ssh.IsDestination(text) || ssh.HostOf(text) != host {
			t.Errorf("%q: %v, host %q", text, ssh.IsDestination(text), ssh.HostOf(text))
		}
	}
	for _, text := range []string{"", "-oProxyCommand=sh", "admin@-oProxyCommand=sh", "a b", "vm2;reboot", "vm$(id)", "vm\n", "admin@", strings.Repeat("a", 256)} {
		if ssh.IsDestination(text) {
			t.Errorf("%q is a destination", text)
		}
	}
}

func TestAnotherPlatformsProgramIsInTheFolder(t *testing.T) {
	_, err := (&ssh.Binaries{Open: openFile}).For(ssh.Platform{OS: "plan9", Arch: "mips"})
	if e := measure.AsError(err, ""); e.Code != "ssh.no_binaries" || !strings.Contains(e.Hint, "soku-plan9-mips") {
		t.Errorf("error %v", err)
	}
	_, err = (&ssh.Binaries{Folder: t.TempDir(), Open: openFile}).For(ssh.Platform{OS: "plan9", Arch: "mips"})
	if e := measure.AsError(err, ""); e.Code != "ssh.no_binary" || !strings.Contains(e.Message, "soku-plan9-mips") {
		t.Errorf("error %v", err)
	}
}
