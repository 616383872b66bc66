package vercel

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stream runs a command and hands on its lines as they come.
func (c client) stream(method, path string, body any, show func(object) bool) {
	c.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.server.URL()+path+"?teamId="+DefaultTeam, bytes.NewReader(encoded))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+DefaultToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	equal(c.t, "content type", response.Header.Get("Content-Type"), "application/x-ndjson")
	for decoder := json.NewDecoder(response.Body); ; {
		var line object
		if decoder.Decode(&line) != nil || !show(line) {
			return
		}
	}
}

func (c client) detach(session, script string) string {
	c.t.Helper()
	answer := c.want(200, "POST", within(session, "/cmd"), object{"command": "sh", "args": []string{"-c", script}})
	equal(c.t, "exit code", at(answer, "command", "exitCode"), nil)
	return text(answer, "command", "id")
}

func TestCommandStream(t *testing.T) {
	needExecutor(t)
	c := newClient(t, Config{})
	_, session := c.create(nil)
	var lines []object
	c.stream("POST", within(session, "/cmd"), object{"command": "echo", "args": []string{"hi"}, "wait": true, "logs": true}, func(line object) bool {
		lines = append(lines, line)
		return true
	})
	equal(t, "lines", len(lines), 3)
	exit, present := at(lines[0], "command").(object)["exitCode"]
	equal(t, "first", present && exit == nil, true)
	equal(t, "output", text(lines[1], "data"), "hi\n")
	equal(t, "last", at(lines[2], "command", "exitCode"), any(float64(0)))
	equal(t, "duration", at(lines[2], "command", "durationMs") != nil, true)

	// The older SDK counts on two lines.
	lines = nil
	c.stream("POST", within(session, "/cmd"), object{"command": "echo", "args": []string{"hi"}, "wait": true}, func(line object) bool {
		lines = append(lines, line)
		return true
	})
	equal(t, "lines", len(lines), 2)
	commands, _ := c.want(200, "GET", within(session, "/cmd"), nil)["commands"].([]any)
	equal(t, "commands", len(commands), 2)
	c.refused(404, codeNotFound, "GET", within(session, "/cmd/cmd_none"), nil)
	c.refused(400, codeBadRequest, "POST", within(session, "/cmd"), object{"args": []string{}})
	c.refused(400, codeBadRequest, "POST", within(session, "/cmd"), object{"command": "pwd", "cwd": "/nowhere"})
	c.refused(400, codeNoExecutable, "POST", within(session, "/cmd"), object{"command": "/vercel/sandbox"})
	equal(t, "commands", c.server.Inventory().Sessions[0].Commands, 2)
}

// TestStopEndsCommands: their streams end with the reason, and nothing of them goes on.
func TestStopEndsCommands(t *testing.T) {
	needExecutor(t)
	c := newClient(t, Config{})
	name, session := c.create(nil)
	c.detach(session, "while :; do date +%s%N >beat; sleep 0.02; done")
	begun, ended := make(chan struct{}, 1), make(chan object, 1)
	go func() {
		var last object
		c.stream("POST", within(session, "/cmd"), object{"command": "sleep", "args": []string{"300"}, "wait": true, "logs": true}, func(line object) bool {
			if last == nil {
				begun <- struct{}{}
			}
			last = line
			return true
		})
		ended <- last
	}()
	<-begun
	c.shell(session, "until test -s beat; do sleep 0.02; done")
	asked := time.Now()
	c.want(200, "POST", within(session, "/stop"), nil)
	last := <-ended
	equal(t, "stream", text(last, "stream"), "error")
	equal(t, "code", text(last, "data", "code"), codeStopped)
	if took := time.Since(asked); took > 30*time.Second {
		t.Errorf("the stop took %v", took)
	}
	session = text(c.resume(name), "session", "id")
	first, _ := c.shell(session, "cat beat")
	time.Sleep(100 * time.Millisecond)
	second, _ := c.shell(session, "cat beat")
	equal(t, "beat", second, first)
}

func TestDetachedOutlivesItsRequest(t *testing.T) {
	needExecutor(t)
	c := newClient(t, Config{})
	_, session := c.create(nil)
	id := c.detach(session, "echo one; sleep 0.3; echo two; sleep 0.3; exit 5")
	var output string
	for range 2 { // replayed and followed, then replayed
		output = ""
		c.stream("GET", within(session, "/cmd/"+id+"/logs"), nil, func(line object) bool {
			output += text(line, "data")
			return true
		})
		equal(t, "output", output, "one\ntwo\n")
	}
	equal(t, "exit", at(c.want(200, "GET", within(session, "/cmd/"+id)+"?wait=true", nil), "command", "exitCode"), any(float64(5)))
	killed := c.want(200, "POST", within(session, "/cmd/"+id+"/kill"), object{"signal": 9})
	equal(t, "unchanged", at(killed, "command", "exitCode"), any(float64(5)))
	c.refused(400, codeBadRequest, "POST", within(session, "/cmd/"+id+"/kill"), object{"signal": 4})

	id = c.detach(session, "sleep 300")
	c.want(200, "POST", within(session, "/cmd/"+id+"/kill"), nil)
	equal(t, "exit", at(c.want(200, "GET", within(session, "/cmd/"+id)+"?wait=true", nil), "command", "exitCode"), any(float64(143)))
}

func TestCommandTimeoutGoesByTheClock(t *testing.T) {
	needExecutor(t)
	clock := NewVirtualClock(time.Now())
	c := newClient(t, Config{Clock: clock})
	_, session := c.create(nil)
	answer := c.want(200, "POST", within(session, "/cmd"), object{"command": "sleep", "args": []string{"300"}, "timeout": 60_000})
	clock.Advance(time.Minute)
	ended := c.want(200, "GET", within(session, "/cmd/"+text(answer, "command", "id"))+"?wait=true", nil)
	equal(t, "exit", at(ended, "command", "exitCode"), any(float64(137)))
	equal(t, "duration", at(ended, "command", "durationMs"), any(float64(60_000)))
}

// TestDiskIsCopiedWhole: modes, links and what a command closed to itself come back, and the snapshot
// does not change with the sandboxes made of it.
func TestDiskIsCopiedWhole(t *testing.T) {
	needExecutor(t)
	c := newClient(t, Config{})
	name, session := c.create(nil)
	_, exit := c.shell(session, `
		mkdir -p d/e && echo data >d/e/f && chmod 640 d/e/f && ln -s d/e/f link && ln -s /etc/passwd out && mkfifo pipe
		echo x >closed && chmod 0 closed && mkdir locked && echo y >locked/z && chmod 500 locked && touch -d @1000000000 d/e/f
		printf '#!/bin/sh\necho ran\n' >~/tool && chmod +x ~/tool`)
	equal(t, "exit", exit, 0)
	c.want(200, "POST", within(session, "/stop"), nil)
	check := `stat -c '%n %a %F' d/e/f link closed locked; stat -c %Y d/e/f; readlink link out; cat d/e/f locked/z; ~/tool; test -e pipe || echo no pipe`
	want := "d/e/f 640 regular file\nlink 777 symbolic link\nclosed 0 regular file\nlocked 500 directory\n1000000000\nd/e/f\n/etc/passwd\ndata\ny\nran\nno pipe\n"
	session = text(c.resume(name), "session", "id")
	output, _ := c.shell(session, check)
	equal(t, "resumed", output, want)
	c.shell(session, "chmod 700 locked; rm -r d locked")
	fork := c.want(200, "POST", "/v2/sandboxes/"+name+"/fork?projectId="+DefaultProject.ID, object{"name": "fork"})
	output, _ = c.shell(text(fork, "session", "id"), check)
	equal(t, "forked", output, want)
}

// TestOnlyTheDiskCanBeWritten: what would be lost is refused.
func TestOnlyTheDiskCanBeWritten(t *testing.T) {
	needExecutor(t)
	c := newClient(t, Config{WorkingDirectory: "/home/ubuntu/work"})
	_, session := c.create(nil)
	output, _ := c.shell(session, `pwd; for d in / /etc /usr /opt /workspace /home/agent /vercel /root; do touch $d/x 2>/dev/null && echo $d; done; touch x ~/x /tmp/x && echo fine`)
	equal(t, "writable", output, "/home/ubuntu/work\nfine\n")
	equal(t, "cwd", text(c.want(200, "GET", within(session, ""), nil), "session", "cwd"), "/home/ubuntu/work")
	c.refused(400, codeUnsupported, "POST", within(session, "/cmd"), object{"command": "true", "sudo": true})
	c.refused(400, codeUnsupported, "POST", within(session, "/interactive"), object{})
	if err := c.server.Configure(Settings{SudoWithoutRoot: true}); err != nil {
		t.Fatal(err)
	}
	got := c.send("POST", within(session, "/cmd"), object{"command": "sh", "args": []string{"-c", "echo $HOME"}, "sudo": true, "wait": true, "logs": true})
	equal(t, "home", text(c.lines(got.content)[1], "data"), "/root\n")
}

// archive makes an upload.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var content bytes.Buffer
	zipped := gzip.NewWriter(&content)
	writer := tar.NewWriter(zipped)
	for name, text := range files {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}
		if target, link := strings.CutPrefix(text, "-> "); link {
			header = &tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
			text = ""
		}
		if err := writer.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

func (c client) upload(session, directory string, content []byte) int {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.server.URL()+within(session, "/fs/write")+"?teamId="+DefaultTeam, bytes.NewReader(content))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+DefaultToken)
	request.Header.Set("Content-Type", "application/gzip")
	if directory != "" {
		request.Header.Set("X-Cwd", directory)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestFiles(t *testing.T) {
	needExecutor(t)
	c := newClient(t, Config{})
	_, session := c.create(nil)
	equal(t, "upload", c.upload(session, "", archive(t, map[string]string{"a/b": "one"})), 200)
	equal(t, "upload", c.upload(session, "/tmp", archive(t, map[string]string{"a/b": "two"})), 200)
	for name, text := range map[string]string{"../x": "x", "/vercel/sandbox/x": "x", "a/../../x": "x", "link": "-> /etc"} {
		equal(t, name, c.upload(session, "", archive(t, map[string]string{name: text})), 400)
	}
	equal(t, "no archive", c.upload(session, "", []byte("text")), 400)
	read := func(path string) reply { return c.send("POST", within(session, "/fs/read"), object{"path": path}) }
	equal(t, "read", string(read("a/b").content), "one")
	equal(t, "read", string(read("/tmp/a/b").content), "two")
	equal(t, "type", read("a/b").header.Get("Content-Type"), "application/octet-stream")
	equal(t, "missing", read("a/c").status, 404)
	equal(t, "directory", read("a").status, 400)
	c.shell(session, "echo x >secret; chmod 0 secret; head -c 300000 /dev/urandom >large; sha256sum <large >sum")
	equal(t, "closed", read("secret").status, 400)
	equal(t, "large", len(read("large").content), 300000)

	mkdir := func(status int, body object) {
		t.Helper()
		equal(t, "mkdir", c.send("POST", within(session, "/fs/mkdir"), body).status, status)
	}
	mkdir(200, object{"path": "n/e/w"})
	mkdir(400, object{"path": "n/e/w"})
	mkdir(200, object{"path": "n/e/w", "recursive": true})
	mkdir(400, object{"path": "q/r", "recursive": false})
	mkdir(200, object{"path": "r", "cwd": "/tmp", "recursive": false})
	mkdir(400, object{"path": "/etc/x"})
	if err := c.server.Configure(Settings{StrictMkdir: true, MaxUpload: 10}); err != nil {
		t.Fatal(err)
	}
	mkdir(400, object{"path": "q/r"})
	equal(t, "large upload", c.upload(session, "", archive(t, map[string]string{"a/b": "one"})), 413)
}

func TestSources(t *testing.T) {
	needExecutor(t)
	file := filepath.Join(t.TempDir(), "source.tar.gz")
	if err := os.WriteFile(file, archive(t, map[string]string{"src/main.txt": "hello"}), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, Config{Sources: map[string]string{"https://example.com/x.git": file, "https://example.com/x.tar.gz": file}})
	for _, source := range []object{
		{"type": "git", "url": "https://example.com/x.git", "depth": 1, "revision": "main", "username": "u", "password": "p"},
		{"type": "tarball", "url": "https://example.com/x.tar.gz"},
	} {
		name, session := c.create(object{"source": source})
		output, _ := c.shell(session, "cat src/main.txt")
		equal(t, "file", output, "hello")
		equal(t, "source", at(c.get(name), "sandbox", "source"), nil)
	}
}
