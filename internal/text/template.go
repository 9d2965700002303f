package text

import "fmt"

// SentenceFunc returns Sentence for the templates of a page: {{say "key" "Name" .Value}}.
func (c *Catalogue) SentenceFunc() func(key string, pairs ...any) (string, error) {
	return func(key string, pairs ...any) (string, error) {
		args, err := Pairs(pairs...)
		return c.sentence(key, args), err
	}
}

// Pairs are arguments by their names, of names and values in turn. It is a function for
// templates.
func Pairs(pairs ...any) (Args, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("%d names and values: one is missing", len(pairs))
	}
	out := Args{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("argument %d is no name", i)
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}
