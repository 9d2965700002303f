// Package campaigns runs the campaigns of a hub: it starts them, goes on with those that another hub or
// a former run of this one left, and tells those who watch what happens. conduct does the work.
//
// Each campaign has a goroutine of its own, which ends with the campaign or with [Campaigns.Close].
package campaigns
