package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"soku/test/built"
	"soku/test/freeport"
	"soku/test/tier"
)

// The programs run with what the images have and as their user: 65532, as the manifests say.
func TestImagesHaveAllThatTheProgramsNeed(t *testing.T) {
	tier.SpendsSeconds(t)
	tier.NeedsRoot(t, "chroot and storage of images")
	need(t, "buildah")
	context := t.TempDir()
	if err := os.Mkdir(filepath.Join(context, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{
		"soku": built.Program(t), "soku-hub": built.Hub(t), "ca-certificates.crt": "/etc/ssl/certs/ca-certificates.crt",
	} {
		if out, err := exec.Command("cp", from, filepath.Join(context, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	storage := t.TempDir()
	buildah := func(args ...string) string {
		t.Helper()
		c := exec.Command("buildah", append([]string{"--storage-driver", "vfs", "--root", filepath.Join(storage, "root"), "--runroot", filepath.Join(storage, "run")}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("buildah %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	roots := map[string]string{}
	for _, target := range []string{"agent", "hub"} {
		buildah("build", "--isolation", "chroot", "--file", filepath.Join(folder, "container", "Containerfile"), "--target", target, "--tag", target, context)
		container := buildah("from", "--name", target, "localhost/"+target)
		if user := buildah("inspect", "--format", "{{.OCIv1.Config.User}}", container); user != "65532:65532" {
			t.Errorf("the user of %s is %q", target, user)
		}
		roots[target] = buildah("mount", container)
	}
	inside := func(root string) *syscall.SysProcAttr {
		return &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	}
	version := exec.Command("/soku", "version")
	version.SysProcAttr, version.Dir, version.Err = inside(roots["agent"]), "/", nil
	if out, err := version.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "soku") {
		t.Errorf("%v: %s", err, out)
	}
	port := freeport.Row(t, 2)
	serve := exec.Command("/soku-hub", "serve", "--name", "localhost", "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--listen-nats", fmt.Sprintf("127.0.0.1:%d", port+1))
	serve.SysProcAttr, serve.Dir, serve.Err, serve.Env = inside(roots["hub"]), "/", nil, []string{"SOKU_DATA=/var/lib/soku"}
	await(t, run(t, "hub", serve), "admin-token")
}
