// Package printable is the one filter for text that somebody else wrote, before it reaches a
// terminal, a log or a page: what a server, a client, a file or a name says may have control
// characters, which move the cursor, change colours, write into the clipboard or forge a line
// of the program's own.
//
// It works in two places. [Strings] goes over a decoded message where it arrives (packages
// wire/*, agent); there a line end inside a name becomes a space, and no text is longer than
// the limit. [Writer] stands before standard output and standard error, the last line of
// defence: whatever was forgotten loses its control characters there. What the program draws
// on a terminal itself passes as a [Sequence].
//
// Control characters are C0 but line feed and tab (ECMA-48), DEL, C1 in UTF-8 and as single
// bytes, which are not UTF-8, the separators of lines and paragraphs U+2028 and U+2029, and what
// embeds, overrides or isolates the direction of writing (UAX #9). They are shown as U+FFFD.
package printable
