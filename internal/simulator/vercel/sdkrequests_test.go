package vercel

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the SDK sends to testdata instead of comparing")

// recordedRequest is a request of the SDK with its ids replaced.
type recordedRequest struct {
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Query  map[string]string `json:"query"`
	Header map[string]string `json:"header,omitempty"`
	Body   any               `json:"body,omitempty"`
}

// recordedOperation is what one step of a script sent.
type recordedOperation struct {
	Script    string            `json:"script"`
	Operation string            `json:"operation"`
	Requests  []recordedRequest `json:"requests"`
}

const recordFile = "testdata/sdk-requests.json"

// concurrent are the steps whose requests may come in any order or number.
var generatedIDs = map[string]*regexp.Regexp{
	"{session}": regexp.MustCompile(`sbx_[a-z2-7]{24}`), "{snapshot}": regexp.MustCompile(`snap_[a-z2-7]{24}`), "{command}": regexp.MustCompile(`cmd_[a-z2-7]{24}`),
}

func withoutIDs(text string) string {
	for name, pattern := range generatedIDs {
		text = pattern.ReplaceAllString(text, name)
	}
	return text
}

// operationsOf groups requests by the step that sent them.
func operationsOf(t *testing.T, script string, requests []Request) []recordedOperation {
	t.Helper()
	var operations []recordedOperation
	for _, request := range requests {
		name := request.Header.Get("X-Operation")
		if name == "" {
			continue
		}
		found := slices.IndexFunc(operations, func(o recordedOperation) bool { return o.Operation == name })
		if found < 0 {
			found = len(operations)
			operations = append(operations, recordedOperation{Script: script, Operation: name})
		}
		operations[found].Requests = append(operations[found].Requests, recorded(t, request))
	}
	return operations
}

func recorded(t *testing.T, request Request) recordedRequest {
	t.Helper()
	result := recordedRequest{Method: request.Method, Path: withoutIDs(request.Path), Query: map[string]string{}, Header: map[string]string{}}
	for name, values := range request.Query {
		result.Query[name] = withoutIDs(strings.Join(values, " and "))
		if name == "cursor" {
			result.Query[name] = "{cursor}"
		}
	}
	if cwd := request.Header.Get("X-Cwd"); cwd != "" {
		result.Header["x-cwd"] = cwd
	}
	result.Header["content-type"] = request.Header.Get("Content-Type")
	switch {
	case len(request.Body) == 0:
	case result.Header["content-type"] == "application/gzip":
		result.Body = entriesOf(t, request.Body)
	default:
		if err := json.Unmarshal([]byte(withoutIDs(string(request.Body))), &result.Body); err != nil {
			t.Fatalf("%s %s: %v", request.Method, request.Path, err)
		}
	}
	return result
}

// entriesOf describes an uploaded archive.
func entriesOf(t *testing.T, body []byte) []any {
	t.Helper()
	content, err := checkedArchive(body)
	if err != nil {
		t.Fatal(err)
	}
	entries := []any{}
	for reader := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, fmt.Sprintf("%s %04o %d:%d, type %c, %d bytes", header.Name, header.Mode, header.Uid, header.Gid, header.Typeflag, header.Size))
	}
}

func readRecord(t *testing.T) []recordedOperation {
	t.Helper()
	content, err := os.ReadFile(recordFile)
	if errors.Is(err, os.ErrNotExist) && *update {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []recordedOperation
	if err := json.Unmarshal(content, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// compareRequests compares what a script sent with the record, or makes it the record.
func compareRequests(t *testing.T, script string, requests []Request) {
	t.Helper()
	// Through JSON, so that numbers and lists have one type.
	encoded, err := json.Marshal(operationsOf(t, script, requests))
	if err != nil {
		t.Fatal(err)
	}
	var now []recordedOperation
	if err := json.Unmarshal(encoded, &now); err != nil {
		t.Fatal(err)
	}
	others := readRecord(t)
	var before []recordedOperation
	others = slices.DeleteFunc(others, func(o recordedOperation) bool {
		if o.Script == script {
			before = append(before, o)
			return true
		}
		return false
	})
	if *update {
		writeRecord(t, append(others, now...))
		return
	}
	for i := range max(len(before), len(now)) {
		switch {
		case i >= len(now):
			t.Errorf("%s: %s is on record and sent nothing", script, before[i].Operation)
		case i >= len(before):
			t.Errorf("%s: %s is not on record; run with -update", script, now[i].Operation)
		case !reflect.DeepEqual(before[i], now[i]):
			t.Errorf("%s: on record is\n%s\nsent was\n%s", script, printed(before[i]), printed(now[i]))
		}
	}
}

func writeRecord(t *testing.T, all []recordedOperation) {
	t.Helper()
	slices.SortStableFunc(all, func(a, b recordedOperation) int { return strings.Compare(a.Script, b.Script) })
	content, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(recordFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recordFile, append(content, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// printed shows an operation as the table below does.
func printed(operation recordedOperation) string {
	lines := []string{operation.Operation}
	for _, request := range operation.Requests {
		lines = append(lines, "  "+request.line())
	}
	return strings.Join(lines, "\n")
}

// line is the method, the path, the query but for the team, and the body.
func (r recordedRequest) line() string {
	query := url.Values{}
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		if name != "teamId" {
			query.Set(name, r.Query[name])
		}
	}
	line := r.Method + " " + r.Path
	if len(query) > 0 {
		shown, _ := url.QueryUnescape(query.Encode()) // it was just escaped
		line += "?" + shown
	}
	if r.Body != nil {
		body, _ := json.Marshal(r.Body) // it came from JSON
		line += " " + string(body)
	}
	return line
}
