package httpapi

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/agenttool"
)

// maxToolBody bounds the body of a tool call: a value of a megabyte may take six in JSON (conformance/WIRE.md).
const maxToolBody = 8 << 20

// callTool answers POST /tools/{tool}.
func (h *Handler) callTool(c *call) (reply, error) {
	o := openBody(c)
	caller := agenttool.Caller{Account: c.account}
	if key, ok := o.text("session_key", optional, textRule{mayEmpty: true}); ok {
		caller.SessionKey = &key
	}
	arguments, _ := o.take("arguments", optional)
	if context, ok := o.child("context"); ok {
		caller.Sandboxed, _ = context.flag("sandboxed")
		caller.Channel, _ = context.text("channel", optional, textRule{mayEmpty: true})
		context.close()
	}
	if err := o.done(); err != nil {
		return reply{}, err
	}
	result, err := h.tools.Call(c.ctx, caller, c.path("tool"), arguments)
	if err != nil {
		return reply{}, err
	}
	b := append(appendMember([]byte{'{'}, "data"), result.Data...)
	if result.Text != "" {
		b = appendText(appendMember(b, "text"), result.Text)
	}
	return reply{status: http.StatusOK, body: append(b, '}')}, nil
}

// listTools answers GET /tools.
func (h *Handler) listTools(c *call) (reply, error) {
	q := openQuery(c)
	caller := agenttool.Caller{Account: c.account}
	if key, n := q.find("session_key"); n > 0 { // an empty one is a key like any other
		caller.SessionKey = &key
	}
	if err := q.done(); err != nil {
		return reply{}, err
	}
	tools := h.tools.Tools(caller)
	b := append(appendMember([]byte{'{'}, "data"), '[')
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(appendMember(append(b, '{'), "name"), t.Name)
		b = appendText(appendMember(b, "description"), t.Description)
		b = append(appendSchema(appendMember(b, "parameters"), t.Parameters), '}')
	}
	b = strconv.AppendInt(append(b, `],"meta":{"total":`...), int64(len(tools)), 10)
	return reply{status: http.StatusOK, body: append(b, "}}"...)}, nil
}

func appendSchema(b []byte, schema jsontext.Value) []byte {
	compact := schema.Clone()
	if err := compact.Compact(); err != nil {
		return append(b, "{}"...)
	}
	return append(b, compact...)
}

// pathMCP is where the Model Context Protocol is spoken.
const pathMCP = "/mcp"

// listenMCP answers GET /mcp, sendMCP POST /mcp and endMCP DELETE /mcp.
func (h *Handler) listenMCP(c *call) (reply, error) { return h.serveMCP(c) }

func (h *Handler) sendMCP(c *call) (reply, error) { return h.serveMCP(c) }

func (h *Handler) endMCP(c *call) (reply, error) { return h.serveMCP(c) }

// serveMCP answers the requests of clients of the Model Context Protocol. Answers are the protocol's own, and streams last
// as long as their clients listen.
func (h *Handler) serveMCP(c *call) (reply, error) {
	return reply{status: http.StatusOK, stream: func(w http.ResponseWriter) error {
		h.mcp.ServeMCP(w, c.r, c.account)
		return nil
	}}, nil
}
