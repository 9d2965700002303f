package daemon

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"soku/internal/fleet"
)

// renewAfter is after how long a permission that was just given is renewed: half of the time that it
// lasts by its own statement, on the clock of its signer. The broker checks the signature.
func renewAfter(jwt string) time.Duration {
	lasts := fleet.JWTLasts
	if parts := strings.Split(jwt, "."); len(parts) == 3 {
		var claims struct {
			Issued  int64 `json:"iat"` // seconds since 1970
			Expires int64 `json:"exp"`
		}
		if b, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil && json.Unmarshal(b, &claims) == nil && claims.Expires > claims.Issued {
			lasts = time.Duration(min(claims.Expires-claims.Issued, int64(fleet.JWTLasts/time.Second))) * time.Second
		}
	}
	return lasts / 2
}
