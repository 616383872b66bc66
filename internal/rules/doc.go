// Package rules holds the list of rules that the project is built by, each with the test that holds
// it. It has no code of its own: the list is rules.tsv, and the tests here keep it honest.
//
// Each line of rules.tsv is one rule, in five columns that are separated by a tab:
//
//	id       the letters of the topic and a number
//	verdict  test, not built yet, not applicable or open
//	about    what the rule says, in a few words
//	held by  the tests that would fail if the rule were broken, separated by "; "
//	note     why there is no test, or what the tests do not cover
//
// The topics are PW (the whole provider), SB (sandboxes), PS (persistent sandboxes), BS (base
// snapshots), CH (cloud hosts), WR (workspace runtimes), BK (backends), CN (connectors of other
// projects), T (tests that were asked for) and X (contradictions that were decided).
//
// A test is named by its folder below internal/, a point and its function: basesnapshot.TestBake. A
// subtest follows after a slash, when its name stands as a string in the test or in the suite that it
// runs: store/sqlite.TestStore/killed holder. What comes between them at run time, such as the name of
// a CLI, is left out.
//
// The verdicts:
//
//   - test: the rule holds for everything that is built, and at least one test is named.
//   - not built yet: what the rule is about does not exist. Parts that do may name their tests.
//   - not applicable: the rule says nothing of this provider, or a decision took its place.
//   - open: the rule is about something that exists, and no test holds it. Their number may only fall.
//
// To add a rule, add its line in order and raise the last number of its topic in rules_test.go. To
// rename or remove a test, change the lines that name it. A test counts only if it fails when the rule
// is broken: try that before you write its name here.
package rules
