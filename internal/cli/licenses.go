package cli

import (
	"io"

	"github.com/spf13/cobra"

	"soku/internal/notices"
)

func newLicensesCommand(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:     "licenses",
		Short:   "Print the licenses of soku and of the software in it",
		Example: "  soku licenses | less",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := notices.Text()
			if err != nil {
				return err
			}
			_, err = io.Copy(sys.Stdout, text)
			return err
		},
	}
}
