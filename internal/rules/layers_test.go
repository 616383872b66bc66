package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers are the folders below internal/ that make the provider, with their height. Imports run
// downwards only, and never from one folder to another of the same height.
var layers = map[string]int{
	"effects": 0, "overlay": 0, "handle": 0,
	"backends": 1, "store": 1,
	"sandbox":   2,
	"workspace": 3, "basesnapshot": 3, "cloudhost": 3,
	"provider": 4,
}

// support helps tests and builds, and is no part of the provider.
var support = []string{"acceptance", "acctest", "bench", "debian", "gen", "rules", "simulator", "testkit", "backends/conformance", "store/storetest"}

// sources calls visit with each file of the provider itself, by its name below internal/.
func sources(t *testing.T, visit func(name string, file *ast.File)) {
	t.Helper()
	files, seen := token.NewFileSet(), 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if entry.IsDir() {
			if slices.Contains(support, name) || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err == nil {
			seen++
			visit(name, parsed)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Fatalf("only %d files were seen", seen)
	}
}

// TestLayers holds every import to the layers: backends know no Terraform, the provider owns no
// lifecycle, and no backend knows another one.
func TestLayers(t *testing.T) {
	sources(t, func(name string, file *ast.File) {
		own, rest, _ := strings.Cut(name, "/")
		height, known := layers[own]
		if !known {
			t.Errorf("%s is in no layer", name)
		}
		for _, imported := range file.Imports {
			path, err := strconv.Unquote(imported.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(path, "github.com/hashicorp/terraform-plugin") && own != "provider" {
				t.Errorf("%s imports %s", name, path)
			}
			target, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			other, below, _ := strings.Cut(target, "/")
			switch above, known := layers[other]; {
			case !known:
				t.Errorf("%s imports %s, which is in no layer", name, target)
			case other != own && above >= height:
				t.Errorf("%s imports %s, which is not below it", name, target)
			case other == "backends" && below != "" && own == "backends" && !sameBackend(rest, below):
				t.Errorf("%s imports %s, another backend", name, target)
			case other == "backends" && below == "hetzner" && own == "cloudhost": // hosts have one platform, and no interface
			case other == "backends" && below != "" && own != "backends" && own != "provider":
				t.Errorf("%s imports %s and not the interface", name, target)
			}
		}
	})
}

func sameBackend(file, imported string) bool {
	own, _, nested := strings.Cut(file, "/")
	other, _, _ := strings.Cut(imported, "/")
	return nested && own == other
}

// TestProgramsStartInBackends: nobody but a backend that drives a program starts one.
func TestProgramsStartInBackends(t *testing.T) {
	starts := map[string][]string{
		"exec": {"Command", "CommandContext"}, "os": {"StartProcess"}, "syscall": {"Exec", "ForkExec", "StartProcess"}, "unix": {"Exec"},
	}
	seen := 0
	sources(t, func(name string, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			selected, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := selected.X.(*ast.Ident)
			if !ok || !slices.Contains(starts[of.Name], selected.Sel.Name) {
				return true
			}
			seen++
			if !strings.HasPrefix(name, "backends/local/") {
				t.Errorf("%s uses %s.%s", name, of.Name, selected.Sel.Name)
			}
			return true
		})
	})
	if seen == 0 {
		t.Error("no program is started anywhere: the test looks in the wrong place")
	}
}

// concurrent lists the files that begin something beside the call they serve. Each waits for it, or
// ends it, before that call returns: nothing of the provider goes on in the background.
var concurrent = []string{
	"backends/docker/exec.go",          // copies output, and is waited for
	"backends/local/restore.go",        // feeds a pipe, and is waited for
	"backends/local/watch.go",          // follows one command, and is waited for
	"backends/vercel/api/transport.go", // a timer that is stopped with its request
	"store/postgres/fence.go",          // asks for a sign of life, within a time limit
}

// TestNothingRunsInTheBackground: no timer, worker or goroutine is begun in a file that is not known
// to end it. Nothing may be stopped or removed because time has passed.
func TestNothingRunsInTheBackground(t *testing.T) {
	timers := []string{"AfterFunc", "NewTicker", "Tick"}
	found := map[string]bool{}
	sources(t, func(name string, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.GoStmt:
				found[name] = true
			case *ast.SelectorExpr:
				of, ok := node.X.(*ast.Ident)
				if ok && of.Name == "time" && slices.Contains(timers, node.Sel.Name) {
					found[name] = true
				}
			}
			return true
		})
	})
	for name := range found {
		if !slices.Contains(concurrent, name) {
			t.Errorf("%s begins something in the background. If it ends with the call that began it, add the file to the list", name)
		}
	}
	for _, name := range concurrent {
		if !found[name] {
			t.Errorf("%s is on the list for nothing", name)
		}
	}
}
