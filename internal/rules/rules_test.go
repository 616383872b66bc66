package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostOpen is how many rules may be open. It may only be lowered.
const mostOpen = 0

// topics are the ids that the list has to have, in this order: the letters, then the first and the
// last number of each unbroken run.
var topics = []struct {
	letters string
	runs    [][2]int
}{
	{"PW", [][2]int{{1, 54}}},
	{"SB", [][2]int{{1, 36}}},
	{"PS", [][2]int{{1, 38}}},
	{"BS", [][2]int{{1, 38}}},
	{"CH", [][2]int{{1, 56}}},
	{"WR", [][2]int{{1, 34}, {40, 58}}},
	{"BK", [][2]int{{1, 19}}},
	{"CN", [][2]int{{1, 13}}},
	{"T", [][2]int{{1, 20}}},
	{"X", [][2]int{{1, 28}}},
}

const (
	header = "id\tverdict\tabout\theld by\tnote"

	held          = "test"
	notBuilt      = "not built yet"
	notApplicable = "not applicable"
	open          = "open"
)

// TestRules holds the list to the ids and to the tests that there are.
func TestRules(t *testing.T) {
	content, err := os.ReadFile("rules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	there, err := indexTests("..")
	if err != nil {
		t.Fatal(err)
	}
	problems, counts := judge(string(content), wantedIDs(), there)
	for _, problem := range problems {
		t.Error(problem)
	}
	t.Logf("%d rules: %d held by tests, %d not built yet, %d not applicable, %d open",
		counts[held]+counts[notBuilt]+counts[notApplicable]+counts[open], counts[held], counts[notBuilt], counts[notApplicable], counts[open])
	if counts[open] > mostOpen {
		t.Errorf("%d rules are open, and there may be %d", counts[open], mostOpen)
	}
	if counts[open] < mostOpen {
		t.Errorf("only %d rules are open: lower mostOpen to that", counts[open])
	}
}

func wantedIDs() []string {
	var ids []string
	for _, topic := range topics {
		for _, run := range topic.runs {
			for number := run[0]; number <= run[1]; number++ {
				ids = append(ids, topic.letters+strconv.Itoa(number))
			}
		}
	}
	return ids
}

// judge returns what is wrong with a list, and how many lines have each verdict.
func judge(list string, wanted []string, there index) (problems []string, counts map[string]int) {
	counts = map[string]int{}
	complain := func(format string, values ...any) { problems = append(problems, fmt.Sprintf(format, values...)) }
	if !strings.HasSuffix(list, "\n") {
		complain("the list does not end in a line break")
	}
	lines := strings.Split(strings.TrimSuffix(list, "\n"), "\n")
	if lines[0] != header {
		complain("the first line is %q, want %q", lines[0], header)
	}
	var ids []string
	for _, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		id := columns[0]
		if len(columns) != 5 {
			complain("%s has %d columns, want 5", id, len(columns))
			continue
		}
		verdict, about, tests, note := columns[1], columns[2], columns[3], columns[4]
		if !slices.Contains(wanted, id) {
			complain("%q is no id of a rule", id)
		}
		if slices.Contains(ids, id) {
			complain("%s stands twice", id)
			continue
		}
		ids = append(ids, id)
		counts[verdict]++
		for _, column := range columns {
			if column != strings.TrimSpace(column) || strings.Contains(column, "  ") {
				complain("%s has stray spaces in %q", id, column)
			}
		}
		if about == "" {
			complain("%s does not say what it is about", id)
		}
		switch verdict {
		case held:
			if tests == "" {
				complain("%s names no test", id)
			}
		case notBuilt, notApplicable, open:
			if note == "" {
				complain("%s gives no reason", id)
			}
		default:
			complain("%s has the unknown verdict %q", id, verdict)
		}
		if verdict == open && tests != "" {
			complain("%s is open and names a test", id)
		}
		if tests == "" {
			continue
		}
		for _, name := range strings.Split(tests, "; ") {
			if err := there.find(name); err != nil {
				complain("%s: %v", id, err)
			}
		}
	}
	missing := slices.DeleteFunc(slices.Clone(wanted), func(id string) bool { return slices.Contains(ids, id) })
	if len(missing) > 0 {
		complain("these rules are missing: %s", strings.Join(missing, ", "))
	}
	inOrder := slices.DeleteFunc(slices.Clone(wanted), func(id string) bool { return !slices.Contains(ids, id) })
	known := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !slices.Contains(wanted, id) })
	if !slices.Equal(known, inOrder) {
		complain("the rules are not in their order")
	}
	return problems, counts
}

// index has the tests of each folder, and the strings that a subtest of it can be named by.
type index map[string]*folder

type folder struct {
	tests   map[string]bool
	strings map[string]bool
	// suites are the folders of ours that the tests import.
	suites map[string]bool
}

// find returns why a reference names no test, nil when it does.
func (there index) find(reference string) error {
	name, subtest, hasSubtest := strings.Cut(reference, ".Test")
	if !hasSubtest {
		name, subtest, hasSubtest = strings.Cut(reference, ".Fuzz")
		subtest = "Fuzz" + subtest
	} else {
		subtest = "Test" + subtest
	}
	of, found := there[name]
	if !hasSubtest || !found {
		return fmt.Errorf("%q is no test in a folder below internal/", reference)
	}
	parts := strings.Split(subtest, "/")
	if !of.tests[parts[0]] {
		return fmt.Errorf("%s has no %s", name, parts[0])
	}
	for _, part := range parts[1:] {
		if !there.declares(of, part) {
			return fmt.Errorf("%s: no string %q declares such a subtest", reference, part)
		}
	}
	return nil
}

func (there index) declares(of *folder, subtest string) bool {
	if of.strings[subtest] {
		return true
	}
	for suite := range of.suites {
		if helper, ok := there[suite]; ok && helper.strings[subtest] {
			return true
		}
	}
	return false
}

const module = "github.com/sandlot-dev/terraform-provider-sandlot/internal/"

// indexTests reads all test files below a folder, and of suites, which import the package testing
// outside test files, those too.
func indexTests(root string) (index, error) {
	there := index{}
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if there[name] == nil {
			there[name] = &folder{tests: map[string]bool{}, strings: map[string]bool{}, suites: map[string]bool{}}
		}
		isTest := strings.HasSuffix(path, "_test.go")
		if isTest || strings.HasSuffix(name, "storetest") || strings.HasSuffix(name, "conformance") {
			there[name].add(parsed, isTest)
		}
		return nil
	})
	return there, err
}

func (f *folder) add(file *ast.File, isTest bool) {
	for _, imported := range file.Imports {
		path, err := strconv.Unquote(imported.Path.Value)
		if rest, ours := strings.CutPrefix(path, module); err == nil && ours {
			f.suites[rest] = true
		}
	}
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if isTest && ok && function.Recv == nil && isTestFunction(function) {
			f.tests[function.Name.Name] = true
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				f.strings[text] = true
			}
		}
		return true
	})
}

func isTestFunction(function *ast.FuncDecl) bool {
	name := function.Name.Name
	if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") || name == "TestMain" {
		return false
	}
	parameters := function.Type.Params.List
	return len(parameters) == 1 && len(parameters[0].Names) == 1
}

// TestFaultsAreFound gives the check lists with one fault each.
func TestFaultsAreFound(t *testing.T) {
	there := index{
		"a/b":   {tests: map[string]bool{"TestIt": true, "FuzzIt": true}, strings: map[string]bool{"one part": true}, suites: map[string]bool{"suite": true}},
		"suite": {strings: map[string]bool{"a part of the suite": true}},
	}
	good := []string{"T1\ttest\twhat\ta/b.TestIt; a/b.TestIt/one part; a/b.FuzzIt\t", "T2\ttest\twhat\ta/b.TestIt/a part of the suite\tnot all", "T3\tnot built yet\twhat\t\twhy", "T4\topen\twhat\t\twhy"}
	wanted := []string{"T1", "T2", "T3", "T4"}
	list := func(lines ...string) string { return header + "\n" + strings.Join(lines, "\n") + "\n" }
	if problems, counts := judge(list(good...), wanted, there); len(problems) > 0 || counts[held] != 2 || counts[open] != 1 {
		t.Errorf("a good list: %q, %v", problems, counts)
	}
	with := func(line string) []string { return append([]string{line}, good[1:]...) }
	for name, c := range map[string]struct {
		lines []string
		says  string
	}{
		"missing":            {good[1:], "missing: T1"},
		"twice":              {append(slices.Clone(good), good[0]), "T1 stands twice"},
		"order":              {[]string{good[1], good[0], good[2], good[3]}, "not in their order"},
		"unknown id":         {append(slices.Clone(good), "T5\ttest\twhat\ta/b.TestIt\t"), `"T5" is no id`},
		"no id":              {append(slices.Clone(good), "\ttest\twhat\ta/b.TestIt\t"), `"" is no id`},
		"leading zero":       {with("T01\ttest\twhat\ta/b.TestIt\t"), `"T01" is no id`},
		"too few columns":    {with("T1\ttest\ta/b.TestIt"), "3 columns"},
		"too many columns":   {with(good[0] + "\tmore"), "6 columns"},
		"stray spaces":       {with("T1\ttest\twhat \ta/b.TestIt\t"), "stray spaces"},
		"about nothing":      {with("T1\ttest\t\ta/b.TestIt\t"), "does not say"},
		"no test":            {with("T1\ttest\twhat\t\twhy"), "names no test"},
		"no reason":          {with("T1\tnot applicable\twhat\t\t"), "gives no reason"},
		"open with a test":   {with("T1\topen\twhat\ta/b.TestIt\twhy"), "is open and names a test"},
		"unknown verdict":    {with("T1\tfine\twhat\ta/b.TestIt\t"), "unknown verdict"},
		"unknown folder":     {with("T1\ttest\twhat\tb.TestIt\t"), "is no test"},
		"unknown test":       {with("T1\ttest\twhat\ta/b.TestThat\t"), "has no TestThat"},
		"unknown subtest":    {with("T1\ttest\twhat\ta/b.TestIt/two part\t"), "declares such a subtest"},
		"test beside reason": {with("T1\tnot built yet\twhat\ta/b.TestThat\twhy"), "has no TestThat"},
		"other separator":    {with("T1\ttest\twhat\ta/b.TestIt, a/b.FuzzIt\t"), "has no TestIt, a"},
		"no test's name":     {with("T1\ttest\twhat\ta/b.it\t"), "is no test"},
	} {
		problems, _ := judge(list(c.lines...), wanted, there)
		if !strings.Contains(strings.Join(problems, "\n"), c.says) {
			t.Errorf("%s: got %q, want one that says %q", name, problems, c.says)
		}
	}
	for _, broken := range []string{"", "id\n" + strings.Join(good, "\n") + "\n", strings.TrimSuffix(list(good...), "\n")} {
		if problems, _ := judge(broken, wanted, there); len(problems) == 0 {
			t.Errorf("%.40q has no problem", broken)
		}
	}
}
