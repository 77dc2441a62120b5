// Package transcript shows transcripts to agents the way spec/session-tools.md, section 3, wants it: what a row appears as,
// without scaffolding of models and without credentials, cut to size, in pages. It is pure: it does no IO, keeps no state
// between calls, and everything in it may be used by several goroutines at once.
//
//	redactor, err := transcript.NewRedactor(transcript.RedactOptions{Patterns: patterns}) // once, from the configuration
//	view := transcript.NewView(redactor)
//
//	view.Page(transcript.Page{Rows: newest})                    // sessions_history
//	view.Page(transcript.Page{Rows: page, Paged: true, …})      // the same with an offset
//	view.Window(transcript.Window{Rows: around, MessageID: id}) // the same around a message
//	view.Recent(newest, 5)                                      // messages of a row of sessions_list
//	view.Preview(newest)                                        // its last message in one line
//	transcript.Title(transcript.TitleParts{…})                  // its title; see also View.FirstUserText
//	transcript.Reply(newest)                                    // what a run said: replies and announcements
//	transcript.ControlWord(reply)                               // whether that only means silence
//
// # Order
//
// A row goes through these steps, in this order; [View.Page] and the others all do the same:
//
//  1. projection (3.3): rows that do not appear go; forwarded messages get the role assistant; directives, envelopes and
//     the calls beside texts go;
//  2. [Sanitise] (3.5), texts of assistants only; blocks and rows that become blank go without a flag;
//  3. structured reasoning goes, unless tools are asked for, and sets the flag of cuts;
//  4. [Redactor.Redact] (3.7), every text of every role: before the cut, so that no credential stays in part, and after the
//     sanitiser, so that none in removed reasoning sets a flag;
//  5. cuts (3.6): long texts to [MaxText], heavy members and encoded data out;
//  6. the cap of [MaxBytes] over all messages, and then pagination (3.8).
//
// # Hostile text
//
// Texts come from models and from people, so every function takes any bytes, never fails, and costs time in proportion to
// the length of the text: rules are scanners that look at no byte more than a fixed number of times. No step may bring
// back what an earlier one took, so [Sanitise] repeats its steps until nothing changes. Where the sheet recommends to be
// stricter than the original, this package is: closed pairs of call tags around plain words, invoke elements without the
// marker of their model, nested memories, arguments that never close and results without an id all go.
//
// Patterns of the operator run in Go's regular expression engine, which never backtracks.
package transcript
