// Package printable is the one filter for foreign text before it reaches a terminal, a log or a
// page: the text of a server, a client, a file or a name may have control characters, which move
// the cursor, change colours, write into the clipboard or forge a line of the program's own.
//
// It works in two places. [Strings] goes over a decoded message where it arrives (packages
// wire/*, agent); there a line end inside a name becomes a space, and no text is longer than
// the limit. [Writer] wraps standard output and standard error as the last line of defence: text
// that was not filtered before loses its control characters there. The program's own control
// sequences pass as a [Sequence].
//
// Control characters are C0 but line feed and tab (ECMA-48), DEL, C1 in UTF-8 and as single
// bytes, which are not UTF-8, the separators of lines and paragraphs U+2028 and U+2029, and what
// embeds, overrides or isolates the direction of writing (UAX #9). They are shown as U+FFFD.
package printable
