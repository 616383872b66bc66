package backends

import (
	"net"
	"net/http"
	"time"
)

// WebTransport is how the client of a platform's HTTP API sends its requests: TLS is verified, the proxy
// variables are honored, and nothing waits for ever. Answers come as they were sent: a compressed stream
// arrives in clumps, and a small answer could unpack to a huge one.
func WebTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       60 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
	}
}

// LoopbackHost tells whether what is sent to the host of a URL stays on this machine, so that a token may
// go there by plain http.
func LoopbackHost(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}
