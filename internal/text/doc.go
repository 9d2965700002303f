// Package text makes every sentence that a person reads in a summary, a table, a
// plan or a report. The program hands it a key and the figures; the sentence, its
// plurals and how numbers are written come from a message catalogue, one file an
// area and language in messages/ (area.language.json, the format of go-i18n).
//
// A second language needs only its files, named like the English ones ([For]): no
// sentence is assembled from parts, so word order and plurals are the translator's. Code that
// writes for people is handed the catalogue that they read; what programs read is English
// ([ForPrograms]).
// Where a sentence needs several plurals, {{count "hop" .Hops}} inserts the message
// count.hop with its own plural forms. A message may have a variant for one test or one
// metric: KEY.VARIANT stands in for KEY there ([Catalogue.SentenceFor]).
//
// Command lines of other tools (package dropin) keep those tools' own texts.
// The package starts no goroutines; a Catalogue may be used from several.
package text
