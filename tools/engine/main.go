// Command engine asks a Docker Engine the few things that our scripts need, by plain HTTP and
// without a Docker CLI. It follows DOCKER_HOST when that names a unix socket or a plain TCP
// address; other forms count as no engine.
//
//	engine ping                    exit status 0 when an engine answers
//	engine wait DURATION           the same, for as long as DURATION
//	engine ensure IMAGE DURATION   prints "present", "pulled" or fails
//	engine import IMAGE BUSYBOX    makes an image of one static busybox
//	engine remove IMAGE            removes an image that nothing uses; a missing one is success
//	engine leftovers OWNER         lists containers, volumes, images and networks of one owner
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// callLimit bounds each call that has no limit of its own.
const callLimit = 30 * time.Second

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "engine: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("a command is required")
	}
	e, err := connect(os.Getenv("DOCKER_HOST"))
	if err != nil {
		return err
	}
	switch {
	case args[0] == "ping" && len(args) == 1:
		return e.ping(ctx)
	case args[0] == "wait" && len(args) == 2:
		return e.wait(ctx, args[1])
	case args[0] == "ensure" && len(args) == 3:
		return e.ensure(ctx, args[1], args[2])
	case args[0] == "import" && len(args) == 3:
		return e.importBusybox(ctx, args[1], args[2])
	case args[0] == "remove" && len(args) == 2:
		return e.remove(ctx, args[1])
	case args[0] == "leftovers" && len(args) == 2:
		return e.leftovers(ctx, args[1])
	default:
		return fmt.Errorf("unknown command or wrong number of arguments: %s", strings.Join(args, " "))
	}
}

// engine is one Docker Engine.
type engine struct {
	base   string
	client http.Client
}

func connect(host string) (*engine, error) {
	if host == "" {
		host = "unix:///var/run/docker.sock"
	}
	scheme, address, _ := strings.Cut(host, "://")
	switch scheme {
	case "unix":
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", address)
		}
		return &engine{"http://engine", http.Client{Transport: &http.Transport{DialContext: dial}}}, nil
	case "tcp", "http":
		return &engine{"http://" + address, http.Client{}}, nil
	default:
		return nil, fmt.Errorf("DOCKER_HOST of the form %s:// is not supported here", scheme)
	}
}

// call makes one request and returns its body when the status is 2xx.
func (e *engine) call(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, e.base+path, body)
	if err != nil {
		return nil, err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		return nil, &statusError{response.StatusCode, strings.TrimSpace(string(content))}
	}
	return content, nil
}

type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.text) }

func isStatus(err error, status int) bool {
	var s *statusError
	return errors.As(err, &s) && s.status == status
}

func (e *engine) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := e.call(ctx, http.MethodGet, "/_ping", nil)
	return err
}

func (e *engine) wait(ctx context.Context, limit string) error {
	duration, err := time.ParseDuration(limit)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(duration)
	for {
		err := e.ping(ctx)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// ensure looks for an image and pulls it when it is missing.
func (e *engine) ensure(ctx context.Context, image, limit string) error {
	duration, err := time.ParseDuration(limit)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	if _, err = e.call(ctx, http.MethodGet, "/images/"+image+"/json", nil); err == nil {
		fmt.Println("present")
		return nil
	}
	if !isStatus(err, http.StatusNotFound) {
		return err
	}
	name, tag := image, "latest"
	if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
		name, tag = image[:at], image[at+1:]
	}
	query := url.Values{"fromImage": {name}, "tag": {tag}}
	progress, err := e.call(ctx, http.MethodPost, "/images/create?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	// A pull that fails halfway still answers 200 and says so in its stream.
	for line := range strings.Lines(string(progress)) {
		var message struct{ Error string }
		if json.Unmarshal([]byte(line), &message) == nil && message.Error != "" {
			return errors.New(message.Error)
		}
	}
	fmt.Println("pulled")
	return nil
}

// importBusybox makes an image that holds one static busybox with its usual links.
func (e *engine) importBusybox(ctx context.Context, image, busybox string) error {
	program, err := os.ReadFile(busybox)
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, dir := range []string{"bin/", "etc/", "root/", "tmp/", "workspace/"} {
		mode := int64(0o755)
		if dir == "tmp/" {
			mode = 0o1777
		}
		err = errors.Join(err, w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: mode}))
	}
	files := map[string]string{
		"etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
		"etc/group":  "root:x:0:\nnogroup:x:65534:\n",
	}
	for name, content := range files {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
		_, writeErr := io.WriteString(w, content)
		err = errors.Join(err, writeErr)
	}
	err = errors.Join(err, w.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(program))}))
	_, writeErr := w.Write(program)
	err = errors.Join(err, writeErr)
	for _, applet := range strings.Fields("[ cat chmod cp date echo env false find grep head id ln ls mkdir mv printf ps pwd rm sed sh sha256sum sleep sort stat tail test touch tr true uname wc") {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + applet, Linkname: "busybox"}))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	repository, tag, _ := strings.Cut(image, ":")
	query := url.Values{"fromSrc": {"-"}, "repo": {repository}, "tag": {tag}, "changes": {"ENV PATH=/bin"}}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err = e.call(ctx, http.MethodPost, "/images/create?"+query.Encode(), &archive)
	return err
}

func (e *engine) remove(ctx context.Context, image string) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := e.call(ctx, http.MethodDelete, "/images/"+image, nil)
	if isStatus(err, http.StatusNotFound) || isStatus(err, http.StatusConflict) {
		return nil
	}
	return err
}

// leftovers prints one line for each object that carries the label of owner.
func (e *engine) leftovers(ctx context.Context, owner string) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	filter, err := json.Marshal(map[string][]string{"label": {"sandlot.owner=" + owner}})
	if err != nil {
		return err
	}
	query := "filters=" + url.QueryEscape(string(filter))
	for kind, path := range map[string]string{
		"container": "/containers/json?all=1&" + query,
		"image":     "/images/json?all=1&" + query,
		"network":   "/networks?" + query,
		"volume":    "/volumes?" + query,
	} {
		content, err := e.call(ctx, http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		if kind == "volume" {
			var wrapped struct{ Volumes json.RawMessage }
			if err := json.Unmarshal(content, &wrapped); err != nil {
				return err
			}
			content = wrapped.Volumes
		}
		var objects []struct{ ID, Name string }
		if err := json.Unmarshal(content, &objects); err != nil {
			return err
		}
		for _, object := range objects {
			fmt.Printf("%s %s%s\n", kind, object.ID, object.Name)
		}
	}
	return nil
}
