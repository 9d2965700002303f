// Package printer writes an outline in the formats that people read: a page in HTML, Markdown in
// GitHub's dialect, a workbook, and text for a terminal. What is shown, and in which order, is the
// outline's.
package printer
