package cli

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"soku/internal/catalog"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
)

// ownCatalog is the file in the data folder that is merged into the built-in catalog.
const ownCatalog = "catalog.yaml"

// addCatalogFlag gives cmd the flag that names a person's own file of limits.
func addCatalogFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "catalog", "", "also use the documented limits in this file, before those of "+ownCatalog+" in the data folder and the built-in ones")
	complete(cmd, "catalog", completeFiles("yaml", "yml"))
}

// knownLimits is the catalog of documented limits, read when it is needed: the built-in one with
// the file in the data folder, if it exists, and with file, unless that is empty.
func knownLimits(sys *System, file string) func() (*catalog.Catalog, error) {
	return sync.OnceValues(func() (*catalog.Catalog, error) {
		out := catalog.Builtin()
		for _, name := range []string{filepath.Join(sys.DataDir, ownCatalog), file} {
			if name == "" || name != file && sys.DataDir == "" {
				continue
			}
			body, err := sys.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) && name != file {
				continue
			}
			if err != nil {
				return nil, measure.Fail(measure.KindFile, "cli.catalog.read", measure.Figures{"cause": err})
			}
			own, err := catalog.Parse(name, body)
			if err != nil {
				return nil, err
			}
			out = out.Merge(own)
		}
		return out, nil
	})
}

type catalogFlags struct {
	file string
	json bool
}

func (f *catalogFlags) add(cmd *cobra.Command) {
	addCatalogFlag(cmd, &f.file)
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

func newCatalogCommand(sys *System) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Documented limits of machines, gateways, circuits and disks",
		Long: `Finds documented limits of what clouds sell, each with the page that it was
read from and the day. A plan names a component instead of a figure, and a
report says how much of the limit was reached. Your own files are merged.`,
		Example: `  soku catalog search expressroute
  soku catalog show azure/gateway/UltraPerformance

  endpoints:
    vm: {ssh: vm, limits: {catalog: azure/Standard_DS5_v2}}`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCatalogSearchCommand(sys), newCatalogShowCommand(sys))
	return cmd
}

func newCatalogSearchCommand(sys *System) *cobra.Command {
	f := catalogFlags{}
	cmd := &cobra.Command{
		Use:   "search [TEXT]...",
		Short: "Find components by words in their identity or name",
		Long:  "Lists the components that have all words in their identity or name, with their\nlimits; without words all components.",
		Example: `  soku catalog search d8s v5
  soku catalog search ec2 c6i --json
  soku catalog search line --catalog limits.yaml`,
		RunE: func(_ *cobra.Command, args []string) error {
			known, err := knownLimits(sys, f.file)()
			if err != nil {
				return err
			}
			found := known.Search(strings.Join(args, " "))
			if len(found) == 0 {
				return measure.Fail(measure.KindNotFound, "cli.catalog.nothing", measure.Figures{"text": strings.Join(args, " ")})
			}
			if f.json {
				return printJSON(sys.Stdout, found)
			}
			return printAll(sys, componentTable(sys, found))
		},
	}
	f.add(cmd)
	return cmd
}

func newCatalogShowCommand(sys *System) *cobra.Command {
	f := catalogFlags{}
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show the limits of a component and where they are documented",
		Example: `  soku catalog show azure/Standard_D8s_v5
  soku catalog show aws/c6i.large --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			known, err := knownLimits(sys, f.file)()
			if err != nil {
				return err
			}
			one, err := known.Find(args[0])
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(sys.Stdout, one)
			}
			var out text.Lines
			out.Row("label.component", "summary.text", text.Args{"Text": one.ID})
			out.Row("label.name", "summary.text", text.Args{"Text": printable.Words(one.Name)})
			label := "label.limits"
			for _, l := range one.Limits {
				out.Row(label, "catalog.limit", limitArgs(l))
				out.Under("catalog.source", text.Args{"Source": printable.Words(l.Source), "Date": l.Date})
				label = ""
			}
			printLabelled(sys.Catalogue, sys.Stdout, planColumns, sys.StdoutWidth(), out)
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, word string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
			if known, err := knownLimits(sys, f.file)(); err == nil && len(args) == 0 {
				for _, one := range known.Search("") {
					if strings.HasPrefix(strings.ToLower(one.ID), strings.ToLower(word)) {
						out = append(out, cobra.CompletionWithDesc(one.ID, printable.Line(one.Name)))
					}
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f.add(cmd)
	return cmd
}

// limitArgs are what the sentence of a limit has.
func limitArgs(l catalog.Limit) text.Args {
	return text.Args{"Figure": l.Figure, "Value": l.Value, "Direction": l.Direction, "Flow": l.Flow, "Duration": l.Duration}
}

// componentTable has a line a component: its ID, its name and its limits. Where that is wider
// than the terminal it has no names, and limits continue on further lines.
func componentTable(sys *System, found []catalog.Component) []byte {
	rows := [][]string{sys.Catalogue.Headings("column.component", "column.component_name", "column.documented")}
	for _, one := range found {
		var limits []string
		for _, l := range one.Limits {
			limits = append(limits, sys.Catalogue.Sentence("catalog.limit", limitArgs(l)))
		}
		rows = append(rows, []string{one.ID, printable.Line(one.Name), strings.Join(limits, "; ")})
	}
	lines, width := text.Aligned(rows, rows[0]...), sys.StdoutWidth()
	if width > 0 && slices.ContainsFunc(lines, func(line string) bool { return terminal.StringWidth(line) > width }) {
		var narrow [][]string
		for _, row := range rows {
			id := row[0]
			for _, part := range broken(row[2], width-text.ColumnWidths(rows)[0]-2) {
				narrow = append(narrow, []string{id, part})
				id = ""
			}
		}
		lines = text.Aligned(narrow, rows[0]...)
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}
