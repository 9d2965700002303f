package hubcli

import (
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/cli"
	"soku/internal/hub/users"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/web"
)

const usersPath = "/api/v1/users"

func newUsersCommand(sys *cli.System) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "users",
		Short: "Manage who may use the hub",
		Long: `Lists, adds and removes the users of the hub. A viewer reads, an operator also
starts and stops campaigns and has agents join, an admin also cuts agents off
and manages users.`,
		Example: `  soku-hub users
  soku-hub users add mika --role operator
  soku-hub users token mika --role viewer`,
		Args: cobra.NoArgs,
	}
	list := newUsersListCommand(sys)
	cmd.RunE = list.RunE
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, newUsersAddCommand(sys), newUsersRemoveCommand(sys), newUsersRoleCommand(sys), newUsersLinkCommand(sys), newUsersTokenCommand(sys))
	return cmd
}

func newUsersListCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	cmd := &cobra.Command{
		Use: "list", Short: "List the users", Example: "  soku-hub users list --json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			var all []users.User
			if err := c.ask(cmd.Context(), http.MethodGet, usersPath, nil, &all); err != nil {
				return err
			}
			if f.json {
				return printJSON(sys, all)
			}
			if len(all) == 0 {
				return say(sys, sys.Catalogue.Sentence("hub.users.none", nil))
			}
			rows := [][]string{{sys.Catalogue.Sentence("hub.users.name", nil), sys.Catalogue.Sentence("hub.users.role", nil), sys.Catalogue.Sentence("hub.users.password", nil)}}
			for _, u := range all {
				set := ""
				if u.Password {
					set = sys.Catalogue.Sentence("hub.users.set", nil)
				}
				rows = append(rows, []string{u.Name, string(u.Role), set})
			}
			cli.PrintTable(sys.Stdout, rows)
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

// newUserCommand is a command about one user; ask does it and returns what --json prints, and a sentence.
func newUserCommand(sys *cli.System, cmd *cobra.Command, f *asking, ask func(cmd *cobra.Command, c *client, args []string) (any, string, error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := f.client(sys)
		if err != nil {
			return err
		}
		done, sentence, err := ask(cmd, c, args)
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(sys, done)
		}
		return say(sys, sentence)
	}
	f.add(cmd)
	return cmd
}

func userPath(name string) string { return usersPath + "/" + url.PathEscape(name) }

func newUsersAddCommand(sys *cli.System) *cobra.Command {
	f, role := &asking{}, string(users.Viewer)
	cmd := newUserCommand(sys, &cobra.Command{
		Use: "add NAME", Short: "Add a user, and print the link by which they set a password",
		Example: "  soku-hub users add mika --role operator", Args: cobra.ExactArgs(1),
	}, f, func(cmd *cobra.Command, c *client, args []string) (any, string, error) {
		var l web.UserLink
		err := c.ask(cmd.Context(), http.MethodPost, usersPath, web.UserOrder{Name: args[0], Role: users.Role(role)}, &l)
		return l, sys.Catalogue.Sentence("hub.users.link", text.Args{"Name": l.Name, "Link": l.Link}), err
	})
	cmd.Flags().StringVar(&role, "role", role, "viewer, operator or admin")
	return cmd
}

func newUsersLinkCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	return newUserCommand(sys, &cobra.Command{
		Use: "link NAME", Short: "Print a link by which a user sets another password",
		Example: "  soku-hub users link mika", Args: cobra.ExactArgs(1),
	}, f, func(cmd *cobra.Command, c *client, args []string) (any, string, error) {
		var l web.UserLink
		err := c.ask(cmd.Context(), http.MethodPost, userPath(args[0])+"/link", nil, &l)
		return l, sys.Catalogue.Sentence("hub.users.link", text.Args{"Name": l.Name, "Link": l.Link}), err
	})
}

func newUsersRemoveCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	return newUserCommand(sys, &cobra.Command{
		Use: "remove NAME", Short: "Remove a user, with sessions and tokens",
		Example: "  soku-hub users remove mika", Args: cobra.ExactArgs(1),
	}, f, func(cmd *cobra.Command, c *client, args []string) (any, string, error) {
		var u web.UserOrder
		err := c.ask(cmd.Context(), http.MethodDelete, userPath(args[0]), nil, &u)
		return struct {
			Name string `json:"name"`
		}{args[0]}, sys.Catalogue.Sentence("hub.users.removed", text.Args{"Name": args[0]}), err
	})
}

func newUsersRoleCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	return newUserCommand(sys, &cobra.Command{
		Use: "role NAME ROLE", Short: "Give a user another role: viewer, operator or admin",
		Example: "  soku-hub users role mika admin", Args: cobra.ExactArgs(2),
	}, f, func(cmd *cobra.Command, c *client, args []string) (any, string, error) {
		var u web.UserOrder
		err := c.ask(cmd.Context(), http.MethodPost, userPath(args[0])+"/role", web.UserOrder{Role: users.Role(args[1])}, &u)
		return u, sys.Catalogue.Sentence("hub.users.has_role", text.Args{"Name": u.Name, "Role": u.Role}), err
	})
}

func newUsersTokenCommand(sys *cli.System) *cobra.Command {
	f, role, lasts := &asking{}, string(users.Viewer), measure.Duration(users.TokenLasts)
	cmd := newUserCommand(sys, &cobra.Command{
		Use: "token NAME", Short: "Make a token of a user for programs, and print it",
		Long: `Makes a token for programs. It is printed once and kept only as a hash. It may
do what its role and that of the user both allow.`,
		Example: "  soku-hub users token mika --role viewer --lasts 720h", Args: cobra.ExactArgs(1),
	}, f, func(cmd *cobra.Command, c *client, args []string) (any, string, error) {
		var t web.UserToken
		err := c.ask(cmd.Context(), http.MethodPost, userPath(args[0])+"/tokens", web.UserTokenOrder{Role: users.Role(role), LastsNs: int64(time.Duration(lasts))}, &t)
		return t, t.Token, err
	})
	cmd.Flags().StringVar(&role, "role", role, "the most that it may do: viewer, operator or admin")
	cmd.Flags().Var(&lasts, "lasts", "how long it can be used")
	return cmd
}
