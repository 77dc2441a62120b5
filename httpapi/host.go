package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/sessile-dev/sessile"
)

type localSocketKey struct{}

// LocalSocket marks the context of a connection that came through the Unix socket beside the database, for
// http.Server.ConnContext. No web page can open one, so the host check does not apply to its requests.
func LocalSocket(ctx context.Context) context.Context {
	return context.WithValue(ctx, localSocketKey{}, true)
}

// checkHost keeps web pages away from a server that asks for no credentials. It refuses requests for names that are
// neither loopback names nor configured, as a page makes them that rebinds its own name to this machine
// (spec/governed-state.md, ruling 26; ports do not matter), and requests that change something and that a browser says
// come from another origin: they need no answer to do harm.
func (h *Handler) checkHost(r *http.Request) error {
	if !h.checksHost || r.Context().Value(localSocketKey{}) != nil {
		return nil
	}
	name := hostName(r.Host)
	if !isLoopback(name) && (name == "" || !h.hosts[name]) {
		return sessile.Errorf(sessile.CodeHostNotAllowed, "this server does not answer to that host name")
	}
	if h.origins.Check(r) != nil {
		return sessile.Errorf(sessile.CodeOriginNotAllowed, "web pages of other origins may not change anything here")
	}
	return nil
}

// hostName is a host without its port and brackets, in lower case.
func hostName(host string) string {
	if !strings.Contains(host, ":") {
		return strings.ToLower(host)
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	return strings.ToLower(host)
}

func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Zone() == "" && !addr.Is4In6() && addr.IsLoopback()
}
