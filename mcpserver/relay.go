package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

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
			_ = local.ResourceUpdated(ctx, r.Params)
		},
	})
	remote, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: o.Endpoint, HTTPClient: o.HTTPClient, MaxEventSize: -1}, nil)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", o.Endpoint, err)
	}
	defer remote.Close()

	greeting := remote.InitializeResult()
	local = mcp.NewServer(implementation, &mcp.ServerOptions{
		Instructions: greeting.Instructions, Capabilities: greeting.Capabilities,
		SubscribeHandler: func(ctx context.Context, r *mcp.SubscribeRequest) error { return remote.Subscribe(ctx, r.Params) },
		UnsubscribeHandler: func(ctx context.Context, r *mcp.UnsubscribeRequest) error {
			return remote.Unsubscribe(ctx, r.Params)
		},
	})
	local.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			switch params := r.GetParams().(type) {
			case *mcp.ListToolsParams:
				return remote.ListTools(ctx, params)
			case *mcp.CallToolParamsRaw:
				arguments := params.Arguments
				if len(arguments) == 0 {
					arguments = json.RawMessage(`{}`)
				}
				return remote.CallTool(ctx, &mcp.CallToolParams{Name: params.Name, Arguments: arguments})
			case *mcp.ListResourcesParams:
				return remote.ListResources(ctx, params)
			case *mcp.ListResourceTemplatesParams:
				return remote.ListResourceTemplates(ctx, params)
			case *mcp.ReadResourceParams:
				if method == "resources/read" {
					return remote.ReadResource(ctx, params)
				}
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
	closeErr := remote.Close()
	<-gone
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(context.Cause(serving), errServerGone) && serving.Err() != nil && err != nil:
		return errServerGone
	case err != nil:
		return err
	}
	return closeErr
}
