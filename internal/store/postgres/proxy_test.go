package postgres_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy is a TCP proxy in front of a real server, which can lose what passes through it.
type proxy struct {
	url string

	mu     sync.Mutex
	cut    string // what a client says right before its connection breaks
	silent bool
}

func startProxy(t *testing.T, address string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	behind := parsed.Host
	parsed.Host = listener.Addr().String()
	p := &proxy{url: parsed.String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { client.Close() })
			go p.serve(client, behind)
		}
	}()
	return p
}

// cutAt breaks one connection after the server got a text and before it can answer.
func (p *proxy) cutAt(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = text
}

// silence keeps all that is said from now on.
func (p *proxy) silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
}

// verdict on what a client says.
func (p *proxy) verdict(said []byte) (cut, silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut != "" && bytes.Contains(said, []byte(p.cut)) {
		p.cut, cut = "", true
	}
	return cut, p.silent
}

func (p *proxy) serve(client net.Conn, behind string) {
	server, err := net.Dial("tcp", behind)
	if err != nil {
		client.Close()
		return
	}
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			server.Close()
			return
		}
		cut, silent := p.verdict(buffer[:n])
		if silent {
			continue
		}
		if cut {
			client.Close()
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
		if cut {
			return // the server is still connected and carries it out
		}
	}
}
