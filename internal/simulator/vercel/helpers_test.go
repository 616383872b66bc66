package vercel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// client speaks to a simulator as a careful client would: it has no knowledge of its own.
type client struct {
	t      *testing.T
	server *Server
}

func newClient(t *testing.T, config Config) client {
	t.Helper()
	return client{t: t, server: Start(t, config)}
}

// needExecutor skips a test that runs commands where that is not possible.
func needExecutor(t *testing.T) {
	t.Helper()
	testkit.Bubblewrap(t)
}

type object = map[string]any

// reply is what came back, as it is.
type reply struct {
	status  int
	header  http.Header
	content []byte
}

func (c client) send(method, path string, body any) reply {
	c.t.Helper()
	var content io.Reader = http.NoBody
	if given, isObject := body.(object); isObject && given == nil {
		body = nil
	}
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	joint := "?"
	if strings.Contains(path, "?") {
		joint = "&"
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.server.URL()+path+joint+"teamId="+DefaultTeam, content)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+DefaultToken)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, answer}
}

// want sends a request that has to be answered with a status, and returns the answer.
func (c client) want(status int, method, path string, body any) object {
	c.t.Helper()
	got := c.send(method, path, body)
	if got.status != status {
		c.t.Fatalf("%s %s: status %d, want %d: %s", method, path, got.status, status, got.content)
	}
	var answer object
	if err := json.Unmarshal(got.content, &answer); err != nil {
		c.t.Fatalf("%s %s: %v: %s", method, path, err, got.content)
	}
	return answer
}

// refused sends a request that has to fail with a status and a code.
func (c client) refused(status int, code, method, path string, body any) {
	c.t.Helper()
	answer := c.want(status, method, path, body)
	if got := at(answer, "error", "code"); got != code {
		c.t.Errorf("%s %s: code %v, want %s: %v", method, path, got, code, answer)
	}
}

// create makes a sandbox and returns its name and the id of its session.
func (c client) create(body object) (name, session string) {
	c.t.Helper()
	all := object{"projectId": DefaultProject.ID}
	for key, value := range body {
		all[key] = value
	}
	answer := c.want(200, "POST", "/v3/sandboxes", all)
	return text(answer, "sandbox", "name"), text(answer, "session", "id")
}

func (c client) get(name string) object {
	c.t.Helper()
	return c.want(200, "GET", named(name), nil)
}

func (c client) resume(name string) object {
	c.t.Helper()
	return c.want(200, "GET", named(name)+"&resume=true", nil)
}

func named(name string) string { return "/v2/sandboxes/" + name + "?projectId=" + DefaultProject.ID }

func within(session, path string) string { return "/v2/sandboxes/sessions/" + session + path }

// shell runs a script to its end and returns what it printed and its status.
func (c client) shell(session, script string) (output string, exit int) {
	c.t.Helper()
	got := c.send("POST", within(session, "/cmd"), object{"command": "sh", "args": []string{"-c", script}, "wait": true, "logs": true})
	if got.status != http.StatusOK {
		c.t.Fatalf("%s: status %d: %s", script, got.status, got.content)
	}
	exit = -1
	for _, line := range c.lines(got.content) {
		if printed, ok := line["data"].(string); ok {
			output += printed
		}
		if code, ok := at(line, "command", "exitCode").(float64); ok {
			exit = int(code)
		}
	}
	return output, exit
}

func (c client) lines(content []byte) []object {
	c.t.Helper()
	var lines []object
	for decoder := json.NewDecoder(bytes.NewReader(content)); decoder.More(); {
		var line object
		if err := decoder.Decode(&line); err != nil {
			c.t.Fatalf("%v: %s", err, content)
		}
		lines = append(lines, line)
	}
	return lines
}

// at returns what lies at a path of keys; nil when there is nothing.
func at(from any, keys ...string) any {
	for _, key := range keys {
		inner, ok := from.(object)
		if !ok {
			return nil
		}
		from = inner[key]
	}
	return from
}

func text(from any, keys ...string) string {
	value, _ := at(from, keys...).(string)
	return value
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
