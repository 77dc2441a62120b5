package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// RelayOptions say where a relay passes everything on to.
type RelayOptions struct {
	// Endpoint is the URL of a server's /mcp.
	Endpoint string
	// HTTPClient sends the requests; it adds credentials and the headers that name the session. Default
	// http.DefaultClient.
	HTTPClient *http.Client
	// Version is what clients are told of the server's version.
	Version string
}

// Relay serves one connection over a transport by passing everything on to a server, until the client leaves, the server
// is gone or the context ends.
func Relay(ctx context.Context, o RelayOptions, transport mcp.Transport) error {
	implementation := &mcp.Implementation{Name: "sessile", Title: "Sessile", Version: o.Version}
	var local *mcp.Server
	client := mcp.NewClient(implementation, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ResourceUpdatedHandler: func(ctx context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			_ = local.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: r.Params.URI})
		},
	})
	remote, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: o.Endpoint, HTTPClient: o.HTTPClient, MaxEventSize: -1}, nil)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", o.Endpoint, err)
	}

	greeting := remote.InitializeResult()
	local = mcp.NewServer(implementation, &mcp.ServerOptions{
		Instructions: greeting.Instructions, Capabilities: greeting.Capabilities,
		SubscribeHandler: func(ctx context.Context, r *mcp.SubscribeRequest) error {
			return remote.Subscribe(ctx, &mcp.SubscribeParams{URI: r.Params.URI})
		},
		UnsubscribeHandler: func(ctx context.Context, r *mcp.UnsubscribeRequest) error {
			return remote.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: r.Params.URI})
		},
	})
	// Each side speaks its own version of the protocol, so what a message says about that stays on its side.
	local.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			switch params := r.GetParams().(type) { // lists may come without any
			case *mcp.ListToolsParams:
				ask := &mcp.ListToolsParams{}
				if params != nil {
					ask.Cursor = params.Cursor
				}
				return remote.ListTools(ctx, ask)
			case *mcp.ListResourcesParams:
				ask := &mcp.ListResourcesParams{}
				if params != nil {
					ask.Cursor = params.Cursor
				}
				return remote.ListResources(ctx, ask)
			case *mcp.ListResourceTemplatesParams:
				ask := &mcp.ListResourceTemplatesParams{}
				if params != nil {
					ask.Cursor = params.Cursor
				}
				return remote.ListResourceTemplates(ctx, ask)
			case *mcp.ReadResourceParams:
				if params != nil && method == "resources/read" {
					return remote.ReadResource(ctx, &mcp.ReadResourceParams{URI: params.URI})
				}
			case *mcp.CallToolParamsRaw:
				if params == nil {
					break
				}
				arguments := params.Arguments
				if len(arguments) == 0 {
					arguments = json.RawMessage(`{}`)
				}
				return remote.CallTool(ctx, &mcp.CallToolParams{Name: params.Name, Arguments: arguments})
			}
			return next(ctx, method, r)
		}
	})
	return bridge(ctx, local, remote, transport)
}

// errServerGone ends a relay whose server ended first.
var errServerGone = errors.New("the server ended the connection")

func bridge(ctx context.Context, local *mcp.Server, remote *mcp.ClientSession, transport mcp.Transport) error {
	serving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	gone := make(chan struct{})
	go func() { // ends with the connection, which the caller closes
		defer close(gone)
		_ = remote.Wait()
		stop(errServerGone)
	}()
	err := local.Run(serving, transport)
	serverFirst := errors.Is(context.Cause(serving), errServerGone)
	_ = remote.Close() // what goes wrong with a connection that ends is nobody's business any more
	<-gone
	switch {
	case ctx.Err() != nil || clientLeft(err):
		return nil
	case serverFirst:
		return errServerGone
	}
	return err
}

// clientLeft reports whether a connection ended because its client did: a message may have been on its way to it.
func clientLeft(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE)
}
