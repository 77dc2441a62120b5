package mcpserver

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agenttool"
)

const (
	uriPrefix   = "sessile://session/"
	uriTemplate = uriPrefix + "{key}/{namespace}"
	typeJSON    = "application/json"

	// resourcePage is how many resources one list holds.
	resourcePage = 500
)

// resourceURI names the state of a session under a namespace.
func resourceURI(sessionKey, namespace string) string {
	return uriPrefix + escape(sessionKey) + "/" + escape(namespace)
}

// escape leaves only what no reader of URIs and templates takes for a mark of its own.
func escape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

// namespaceOf finds the namespace of a resource that belongs to the connection's session.
func (c *connection) namespaceOf(uri string) (namespace string, ok bool) {
	rest, ok := strings.CutPrefix(uri, uriPrefix)
	if !ok {
		return "", false
	}
	escapedKey, escapedNamespace, ok := strings.Cut(rest, "/")
	if !ok || strings.Contains(escapedNamespace, "/") {
		return "", false
	}
	key, keyErr := url.PathUnescape(escapedKey)
	namespace, namespaceErr := url.PathUnescape(escapedNamespace)
	if keyErr != nil || namespaceErr != nil || c.server.options.Normalize(key) != *c.caller.SessionKey {
		return "", false
	}
	return namespace, !strings.HasPrefix(namespace, "__")
}

// addResources has the connection list and read the state of its session.
func (c *connection) addResources() {
	c.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "session_state", Title: "State of the session", URITemplate: uriTemplate, MIMEType: typeJSON,
		Description: "What the tool session_state keeps under a namespace, with revisions. The key of the session and the namespace are percent-encoded.",
	}, c.read)
	c.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			switch params := r.GetParams().(type) {
			case *mcp.ListResourcesParams: // they come and go with what is written
				return c.list(ctx, params)
			case *mcp.ReadResourceParams: // an empty namespace fits no template
				if params != nil && method == "resources/read" {
					return c.read(ctx, &mcp.ReadResourceRequest{Params: params})
				}
			}
			return next(ctx, method, r)
		}
	})
}

// list lists a resource for every namespace that holds entries. The cursor is the last namespace of the page before.
func (c *connection) list(ctx context.Context, params *mcp.ListResourcesParams) (*mcp.ListResourcesResult, error) {
	namespaces, err := c.server.options.Entries.Namespaces(ctx, c.caller.Account, *c.caller.SessionKey)
	if err != nil {
		return nil, c.fault(ctx, err)
	}
	namespaces = slices.DeleteFunc(namespaces, func(name string) bool { return strings.HasPrefix(name, "__") })
	if params != nil && params.Cursor != "" {
		after, err := url.PathUnescape(params.Cursor)
		if err != nil {
			after = params.Cursor
		}
		at, found := slices.BinarySearch(namespaces, after)
		if found {
			at++
		}
		namespaces = namespaces[at:]
	}
	result := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
	if len(namespaces) > resourcePage {
		namespaces = namespaces[:resourcePage]
		// An empty text is no cursor, so it never stands for the empty namespace: that one is never last on a full page.
		result.NextCursor = escape(namespaces[resourcePage-1])
	}
	for _, name := range namespaces {
		shown := name
		if shown == "" {
			shown = "(no name)"
		}
		result.Resources = append(result.Resources, &mcp.Resource{
			URI: resourceURI(*c.caller.SessionKey, name), Name: shown, MIMEType: typeJSON,
			Description: "Entries that the tool session_state keeps under this namespace.",
		})
	}
	return result, nil
}

// read reads a namespace as the tool lists it.
func (c *connection) read(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	namespace, ok := c.namespaceOf(r.Params.URI)
	if !ok {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	arguments, err := json.Marshal(struct {
		Operation   string `json:"operation"`
		Namespace   string `json:"namespace"`
		IncludeMeta bool   `json:"include_meta"`
	}{"list", namespace, true})
	if err != nil {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	result, err := c.server.options.Tools.Call(ctx, c.caller, agenttool.SessionStateName, arguments)
	if err != nil {
		return nil, c.fault(ctx, err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: r.Params.URI, MIMEType: typeJSON, Text: string(result.Data)},
	}}, nil
}

// fault is an error that the protocol carries; what went wrong inside is for the log alone.
func (c *connection) fault(ctx context.Context, err error) error {
	if sessile.CodeOf(err) == sessile.CodeInternal && ctx.Err() == nil {
		c.server.options.Logger.Error("a resource cannot be read", "error", err)
		return sessile.Errorf(sessile.CodeInternal, "something went wrong inside the server")
	}
	return err
}

// subscribe has the client told when a namespace changes.
func (c *connection) subscribe(_ context.Context, r *mcp.SubscribeRequest) error {
	namespace, ok := c.namespaceOf(r.Params.URI)
	if !ok {
		return mcp.ResourceNotFoundError(r.Params.URI)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.subscribed == nil {
		c.subscribed = map[string]string{}
		c.watch(r.Session)
	}
	c.subscribed[namespace] = r.Params.URI
	return nil
}

func (c *connection) unsubscribe(_ context.Context, r *mcp.UnsubscribeRequest) error {
	namespace, ok := c.namespaceOf(r.Params.URI)
	if !ok {
		return mcp.ResourceNotFoundError(r.Params.URI)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.subscribed, namespace)
	return nil
}

// watch tells the client of changes until its connection ends.
func (c *connection) watch(session *mcp.ServerSession) {
	watch := c.server.options.Entries.Watch(c.caller.Account, *c.caller.SessionKey)
	ended := make(chan struct{})
	c.server.work.Go(func() {
		defer close(ended)
		_ = session.Wait()
	})
	c.server.work.Go(func() {
		defer watch.Stop()
		for {
			select {
			case <-ended:
				return
			case <-watch.Changes:
				c.publish(watch.Namespaces())
			}
		}
	})
}

func (c *connection) publish(namespaces []string) {
	for _, namespace := range namespaces {
		c.mu.Lock()
		uri, ok := c.subscribed[namespace]
		c.mu.Unlock()
		if ok {
			_ = c.mcp.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri})
		}
	}
}
