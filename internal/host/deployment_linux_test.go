package host

import (
	"os"
	"strings"
	"testing"
)

func TestFactsNameTheBootOfThisMachine(t *testing.T) {
	want, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	d := deployment()
	if d == nil || d.BootID != strings.TrimSpace(string(want)) {
		t.Errorf("deployment is %+v, want boot %s", d, want)
	}
}

func TestAnInstanceIsNamedByItsCloudOrFirmware(t *testing.T) {
	const cloud, tag, uuid = "/var/lib/cloud/data/instance-id", "/sys/class/dmi/id/board_asset_tag", "/sys/class/dmi/id/product_uuid"
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{}, ""},
		{map[string]string{cloud: "i-0a", tag: "i-0b", uuid: "u"}, "i-0a"},
		{map[string]string{cloud: "nocloud", uuid: "u"}, "u"},
		{map[string]string{cloud: "iid-datasource-none"}, ""},
		{map[string]string{tag: "i-0b", uuid: "u"}, "i-0b"},
		{map[string]string{tag: "7783-7084-3265-9085-8269-3286-77", uuid: "u"}, "u"}, // the same on every machine of Azure
	} {
		if got := instanceIn(func(path string) string { return c.files[path] }); got != c.want {
			t.Errorf("files %v name instance %q, want %q", c.files, got, c.want)
		}
	}
}
