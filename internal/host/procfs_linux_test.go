package host

import "testing"

func TestDistributionIsThePrettyName(t *testing.T) {
	for text, want := range map[string]string{
		"ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n": "Debian GNU/Linux 12 (bookworm)",
		"PRETTY_NAME=Alpine": "Alpine", "NAME=x": "", "": "",
	} {
		if got := distribution(text); got != want {
			t.Errorf("distribution(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestHypervisorIsNamedByFirmware(t *testing.T) {
	for _, c := range []struct{ kind, vendor, product, want string }{
		{"", "Amazon EC2", "m7i.large", "ec2"}, {"", "Microsoft Corporation", "Virtual Machine", "hyperv"},
		{"", "Google", "Google Compute Engine", "gce"}, {"", "QEMU", "Standard PC", "kvm"}, {"xen", "", "", "xen"},
		{"", "Dell Inc.", "PowerEdge", ""}, {"", "Microsoft Corporation", "Surface", ""}, {"", "", "", ""},
	} {
		if got := hypervisor(c.kind, c.vendor, c.product); got != c.want {
			t.Errorf("hypervisor(%q, %q, %q) = %q, want %q", c.kind, c.vendor, c.product, got, c.want)
		}
	}
	if got := modelName("processor\t: 0\nmodel name\t: Some CPU @ 2.1 GHz: fast\nflags\t: fpu\n\nmodel name\t: Other\n"); got != "Some CPU @ 2.1 GHz: fast" {
		t.Errorf("the first processor is %q", got)
	}
	if got := modelName("Processor : x\nCPU part : 0xd40\n"); got != "" {
		t.Errorf("a processor without a name is %q", got)
	}
	if !hasHypervisorFlag("model name\t: X\nflags\t\t: fpu hypervisor lahf_lm\n") {
		t.Error("the hypervisor flag was not seen")
	}
	for _, text := range []string{"", "flags : fpu myhypervisor", "bugs : hypervisor", "flags"} {
		if hasHypervisorFlag(text) {
			t.Errorf("%q was taken for a guest", text)
		}
	}
}

func FuzzProcTexts(f *testing.F) {
	f.Add("processor\t: 0\ncpu MHz\t\t: 2394.462\nflags\t: fpu hypervisor\n", "0")
	f.Add("  24:  100  7  PCI-MSIX-0000:00:02.0  virtio1-config\n", "virtio1")
	f.Add("PRETTY_NAME=\"Debian\"\n", "x")
	f.Fuzz(func(t *testing.T, text, name string) {
		parseMHz(text)
		parseInterrupts(text, name)
		distribution(text)
		modelName(text)
		hasHypervisorFlag(text)
	})
}
