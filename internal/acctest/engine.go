package acctest

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// Engine speaks plain HTTP to a Docker engine's socket.
type Engine struct {
	t      testing.TB
	Socket string
	client *http.Client
}

// DockerEngine returns the engine of DOCKER_HOST, else of the usual socket. A machine without one
// ends the test by testkit.Need.
func DockerEngine(t testing.TB) *Engine {
	t.Helper()
	socket, found := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if !found {
		socket = "/var/run/docker.sock"
	}
	engine := EngineAt(t, socket)
	status, _, err := engine.call(http.MethodGet, "/_ping", nil)
	testkit.Need(t, "docker", err == nil && status == http.StatusOK, "start a Docker engine, for example with scripts/engine-start.sh")
	return engine
}

// EngineAt returns the engine behind a socket.
func EngineAt(t testing.TB, socket string) *Engine {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &Engine{t: t, Socket: socket, client: &http.Client{Transport: transport, Timeout: 2 * time.Minute}}
}

// Host is the engine's address as DOCKER_HOST has it.
func (e *Engine) Host() string { return "unix://" + e.Socket }

func (e *Engine) call(method, path string, body any) (status int, content []byte, err error) {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(context.Background(), method, "http://engine"+path, reader)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := e.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	content, err = io.ReadAll(response.Body)
	return response.StatusCode, content, err
}

// Call makes one call and returns the answer. It fails the test when the engine refuses.
func (e *Engine) Call(method, path string, body any) []byte {
	e.t.Helper()
	status, content, err := e.call(method, path, body)
	if err != nil || status >= http.StatusBadRequest {
		e.t.Fatalf("%s %s: status %d, %v: %s", method, path, status, err, content)
	}
	return content
}

// get reads one object into a value; false when there is none.
func (e *Engine) get(path string, into any) bool {
	e.t.Helper()
	status, content, err := e.call(http.MethodGet, path, nil)
	if err == nil && status == http.StatusNotFound {
		return false
	}
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal(content, into)
	}
	if err != nil || status != http.StatusOK {
		e.t.Fatalf("GET %s: status %d, %v: %s", path, status, err, content)
	}
	return true
}

// Container is what tests look at in a container.
type Container struct {
	ID    string `json:"Id"`
	Name  string
	Image string
	State struct {
		Status  string
		Running bool
	}
	Config     map[string]any
	HostConfig map[string]any
	Mounts     []struct{ Type, Name, Source, Destination string }
}

// Container reads a container by name or id; false when there is none.
func (e *Engine) Container(name string) (Container, bool) {
	e.t.Helper()
	var c Container
	found := e.get("/containers/"+url.PathEscape(name)+"/json", &c)
	return c, found
}

// MustContainer reads a container that has to be there.
func (e *Engine) MustContainer(name string) Container {
	e.t.Helper()
	c, found := e.Container(name)
	if !found {
		e.t.Fatalf("there is no container %q", name)
	}
	return c
}

// Objects are the names of what the engine holds for a label, sorted by the engine.
type Objects struct {
	Containers, Volumes, Images, Networks []string
}

// Objects lists everything that carries a label, written as "name" or "name=value".
func (e *Engine) Objects(label string) Objects {
	e.t.Helper()
	filter := url.QueryEscape(fmt.Sprintf(`{"label":[%q]}`, label))
	var containers []struct{ Names []string }
	e.get("/containers/json?all=1&filters="+filter, &containers)
	var volumes struct{ Volumes []struct{ Name string } }
	e.get("/volumes?filters="+filter, &volumes)
	var images []struct {
		ID string `json:"Id"`
	}
	e.get("/images/json?all=1&filters="+filter, &images)
	var networks []struct{ Name string }
	e.get("/networks?filters="+filter, &networks)
	var objects Objects
	for _, c := range containers {
		objects.Containers = append(objects.Containers, strings.TrimPrefix(c.Names[0], "/"))
	}
	for _, v := range volumes.Volumes {
		objects.Volumes = append(objects.Volumes, v.Name)
	}
	for _, i := range images {
		objects.Images = append(objects.Images, i.ID)
	}
	for _, n := range networks {
		objects.Networks = append(objects.Networks, n.Name)
	}
	return objects
}

// Stop stops a container at once.
func (e *Engine) Stop(name string) {
	e.t.Helper()
	e.Call(http.MethodPost, "/containers/"+url.PathEscape(name)+"/stop?t=0", nil)
}

// Start starts a container.
func (e *Engine) Start(name string) {
	e.t.Helper()
	e.Call(http.MethodPost, "/containers/"+url.PathEscape(name)+"/start", nil)
}

// Remove removes a container, running or not; its volumes stay.
func (e *Engine) Remove(name string) {
	e.t.Helper()
	e.Call(http.MethodDelete, "/containers/"+url.PathEscape(name)+"?force=1", nil)
}

// Update changes the limits of a container.
func (e *Engine) Update(name string, limits map[string]any) {
	e.t.Helper()
	e.Call(http.MethodPost, "/containers/"+url.PathEscape(name)+"/update", limits)
}

// RemoveVolume removes a volume.
func (e *Engine) RemoveVolume(name string) {
	e.t.Helper()
	e.Call(http.MethodDelete, "/volumes/"+url.PathEscape(name)+"?force=1", nil)
}

// Remake removes a container and makes it anew and running under the same name, with the
// configuration it had after alter changed it.
func (e *Engine) Remake(name string, alter func(config, hostConfig map[string]any)) {
	e.t.Helper()
	old := e.MustContainer(name)
	// An id is no host name that anybody chose.
	if host, ok := old.Config["Hostname"].(string); ok && strings.HasPrefix(old.ID, host) {
		delete(old.Config, "Hostname")
	}
	alter(old.Config, old.HostConfig)
	body := map[string]any{"HostConfig": old.HostConfig}
	for key, value := range old.Config {
		body[key] = value
	}
	e.Remove(name)
	e.Call(http.MethodPost, "/containers/create?name="+url.QueryEscape(name), body)
	e.Start(name)
}

// ReadFile reads a file out of a container, running or not; false when there is none.
func (e *Engine) ReadFile(name, path string) ([]byte, bool) {
	e.t.Helper()
	status, content, err := e.call(http.MethodGet, "/containers/"+url.PathEscape(name)+"/archive?path="+url.QueryEscape(path), nil)
	if status == http.StatusNotFound {
		return nil, false
	}
	if err != nil || status != http.StatusOK {
		e.t.Fatalf("read %s of %s: status %d, %v: %s", path, name, status, err, content)
	}
	archive := tar.NewReader(bytes.NewReader(content))
	if _, err := archive.Next(); err != nil {
		e.t.Fatal(err)
	}
	file, err := io.ReadAll(archive)
	if err != nil {
		e.t.Fatal(err)
	}
	return file, true
}

// ID is the engine's own id.
func (e *Engine) ID() string {
	e.t.Helper()
	var info struct{ ID string }
	e.get("/info", &info)
	return info.ID
}

// CleanUp removes everything that carries a label when the test ends. Containers go first, since
// they hold volumes and images.
func (e *Engine) CleanUp(label string) {
	e.t.Cleanup(func() {
		left := e.Objects(label)
		for _, name := range left.Containers {
			_, _, _ = e.call(http.MethodDelete, "/containers/"+url.PathEscape(name)+"?force=1", nil)
		}
		for _, name := range left.Volumes {
			_, _, _ = e.call(http.MethodDelete, "/volumes/"+url.PathEscape(name)+"?force=1", nil)
		}
		for range left.Images { // one that another is built on goes after that
			for _, id := range e.Objects(label).Images {
				_, _, _ = e.call(http.MethodDelete, "/images/"+url.PathEscape(id)+"?force=1", nil)
			}
		}
		if rest := e.Objects(label); len(rest.Containers)+len(rest.Volumes)+len(rest.Images) > 0 {
			e.t.Logf("could not be removed: %+v", rest)
		}
	})
}

// MakeImage makes an image of a base and changes, written as instructions of a Dockerfile, and
// returns its reference without any default spelled out. It goes when the test ends.
func (e *Engine) MakeImage(base, tag string, changes ...string) string {
	e.t.Helper()
	label := "sandlot.acctest=" + tag
	e.CleanUp(label)
	name := "acctest-" + tag + "-" + randomHex()
	e.Call(http.MethodPost, "/containers/create?name="+name, map[string]any{"Image": base, "Cmd": []string{"true"}})
	defer e.Remove(name)
	reference := "sandlot-acctest:" + tag + "-" + randomHex()
	repository, version, _ := strings.Cut(reference, ":")
	query := url.Values{"container": {name}, "repo": {repository}, "tag": {version}}
	query["changes"] = []string{strings.Join(append(changes, "LABEL "+label), "\n")}
	e.Call(http.MethodPost, "/commit?"+query.Encode(), map[string]any{})
	return reference
}
