// Program manifests decodes manifests of Kubernetes strictly: a member that its type does not have, or one
// that is there twice, is an error. It is a module of its own, so that soku does not depend on Kubernetes.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: manifests FILE ...")
		os.Exit(2)
	}
	code := 0
	for _, file := range os.Args[1:] {
		if err := check(file); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			code = 1
		}
	}
	os.Exit(code)
}

// check decodes all documents of a file and prints the kind and name of each.
func check(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	reader := yaml.NewYAMLReader(bufio.NewReader(f))
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		object, kind, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return err
		}
		name := ""
		if o, ok := object.(interface{ GetName() string }); ok {
			name = o.GetName()
		}
		fmt.Println(kind.Kind, name)
	}
}
