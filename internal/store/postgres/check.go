package postgres

import (
	"net"
	"net/url"
	"os"
	"strings"
)

// Check judges a URL without contacting anything or reading a file: its form, and whether its sslmode
// would talk to another machine without knowing who that is. Its errors never quote a part of the URL
// but sslmode and hosts.
func Check(address string) error {
	mode, err := checkForm(address)
	if err != nil {
		return err
	}
	_, err = secureMode(mode, namedHosts(address))
	return err
}

// namedHosts are the hosts that a URL of the right form names, else those of the environment. The
// package net/url cannot read several.
func namedHosts(address string) []string {
	_, rest, _ := strings.Cut(address, "://")
	authority := rest
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		authority = rest[:end]
	}
	_, query, _ := strings.Cut(rest, "?")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
	}
	if values, err := url.ParseQuery(query); err == nil && values.Get("host") != "" {
		authority = values.Get("host")
	}
	if authority == "" {
		authority = os.Getenv("PGHOST")
	}
	var hosts []string
	for host := range strings.SplitSeq(authority, ",") {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host = strings.Trim(host, "[]"); host != "" {
			if plain, err := url.PathUnescape(host); err == nil {
				host = plain
			}
			hosts = append(hosts, host)
		}
	}
	return hosts
}
