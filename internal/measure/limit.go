package measure

// Limit is a documented limit of a figure, such as the bandwidth that a provider publishes
// for a type of machine.
type Limit struct {
	Metric string  `json:"metric" jsonschema:"description=Key of the figure"`
	Value  float64 `json:"value" jsonschema:"description=In the unit of the figure"`
	// Of names what has the limit, such as "sku=high" for a level of a factor, or is empty if all have it.
	Of string `json:"of,omitempty" jsonschema:"description=What has the limit: factor=level or the name of an endpoint; absent for all of it"`
	// Component is its name in the catalog, or empty if the limit was written by hand.
	Component string `json:"component,omitempty" jsonschema:"description=Name of the component in the catalog of documented limits"`
	Source    string `json:"source,omitempty" jsonschema:"description=Who published it: a text\\, or the address of the page"`
	Date      string `json:"date,omitempty" jsonschema:"description=Day on which the page was read"`
}
