package users

import (
	"slices"

	"soku/internal/measure"
)

// Role is what a person may do.
type Role string

// The roles. Each may do what those before it may.
const (
	Viewer   Role = "viewer"   // reads
	Operator Role = "operator" // starts and stops campaigns, has agents join
	Admin    Role = "admin"    // cuts agents off, manages users
)

// Roles are all roles, the least first.
var Roles = []Role{Viewer, Operator, Admin}

// May reports whether r includes what is allowed to least.
func (r Role) May(least Role) bool {
	has, needs := slices.Index(Roles, r), slices.Index(Roles, least)
	return has >= 0 && needs >= 0 && has >= needs
}

// lesser is the role that allows less.
func lesser(a, b Role) Role {
	if a.May(b) {
		return b
	}
	return a
}

// checkRole fails with kind usage for what is no role.
func checkRole(r Role) error {
	if !slices.Contains(Roles, r) {
		return measure.Fail(measure.KindUsage, "users.role", measure.Figures{"role": string(r)})
	}
	return nil
}

// Person is who sent a request. The zero Person is not known to the hub.
type Person struct {
	Name string
	Role Role
}
