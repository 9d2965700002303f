package report

import (
	"os"
	"testing"
)

func TestLook(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Skip()
	}
	r, err := Build(campaignWithFailure())
	if err != nil {
		t.Fatal(err)
	}
	f, _ := os.Create(dir + "/a.html")
	if err := r.HTML(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	f, _ = os.Create(dir + "/a.md")
	if err := r.Markdown(f); err != nil {
		t.Fatal(err)
	}
	f, _ = os.Create(dir + "/a.csv")
	if err := r.CSV(f); err != nil {
		t.Fatal(err)
	}
	f, _ = os.Create(dir + "/a.json")
	if err := r.JSON(f); err != nil {
		t.Fatal(err)
	}
	f, _ = os.Create(dir + "/a.txt")
	if err := r.Text(f, 80); err != nil {
		t.Fatal(err)
	}
}
