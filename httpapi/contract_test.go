package httpapi

import (
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/apitest"
)

func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := apitest.Document()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Every route is in the document, under the name of the function that answers it, and the document has no other.
func TestRoutesAreDescribed(t *testing.T) {
	doc := document(t)
	described := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			described[method+" "+path] = true
		}
	}
	for _, route := range Routes() {
		if !described[route.Pattern()] {
			t.Errorf("api/openapi.yaml does not describe %s", route.Pattern())
			continue
		}
		delete(described, route.Pattern())
		op := doc.Paths.Value(route.Path).GetOperation(route.Method)
		if name := handlerName(route); op.OperationID != name {
			t.Errorf("%s has the operation id %q, its handler is %q", route.Pattern(), op.OperationID, name)
		}
		if open := op.Security != nil && len(*op.Security) == 0; open != route.Open {
			t.Errorf("%s: the document says open %v, the table of routes %v", route.Pattern(), open, route.Open)
		}
		if local := op.Extensions["x-local-socket"] == true; local != route.Local {
			t.Errorf("%s: the document says local %v, the table of routes %v", route.Pattern(), local, route.Local)
		}
		if feature := op.Tags[0] == "State" || op.Tags[0] == "Observation"; feature != route.Feature {
			t.Errorf("%s: the document says feature %v, the table of routes %v", route.Pattern(), feature, route.Feature)
		}
		rule := noBody
		if op.RequestBody != nil {
			rule = optionalBody
			if op.RequestBody.Value.Required {
				rule = requiredBody
			}
		}
		if rule != route.body {
			t.Errorf("%s: the document has the body rule %v, the table of routes %v", route.Pattern(), rule, route.body)
		}
	}
	for pattern := range described {
		t.Errorf("api/openapi.yaml describes %s, which is no route", pattern)
	}
}

// handlerName is the name of the method that answers a route.
func handlerName(r Route) string {
	name := runtime.FuncForPC(reflect.ValueOf(r.handle).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// Every code of the program is in the document with its status and a meaning, and the document has no other.
func TestCodesAreDescribed(t *testing.T) {
	schema := document(t).Components.Schemas["ErrorCode"].Value
	explained, _ := schema.Extensions["x-codes"].(map[string]any)
	var listed []sessile.Code
	for _, item := range schema.Enum {
		listed = append(listed, sessile.Code(item.(string)))
	}
	codes := slices.Collect(maps.Keys(statuses)) // which TestEveryCodeHasAStatus holds against the source
	for _, code := range codes {
		if !slices.Contains(listed, code) {
			t.Errorf("api/openapi.yaml does not list %s", code)
		}
		about, _ := explained[string(code)].(map[string]any)
		if status, _ := about["status"].(float64); int(status) != statuses[code] {
			t.Errorf("%s has the status %v in the document, %d here", code, about["status"], statuses[code])
		}
		if meaning, _ := about["meaning"].(string); !strings.HasSuffix(meaning, ".") {
			t.Errorf("the document says of %s: %q", code, meaning)
		}
	}
	for _, code := range listed {
		if !slices.Contains(codes, code) {
			t.Errorf("api/openapi.yaml lists %s, which is no code", code)
		}
	}
	if len(explained) != len(codes) {
		t.Errorf("%d codes are explained, there are %d", len(explained), len(codes))
	}
}

// elsewhere are codes with another status on some routes (spec/governed-state.md, ruling 6; conformance/WIRE.md, "Sessions").
var elsewhere = map[sessile.Code]int{sessile.CodeNamespaceNotRegistered: 409, sessile.CodePayloadTooLarge: 409}

// The codes that an operation lists come with the statuses they have, and every code is listed somewhere.
func TestCodesOfOperations(t *testing.T) {
	doc := document(t)
	// A path without an operation for the method has no operation to list it; nothing answers with the key yet.
	used := map[sessile.Code]bool{sessile.CodeMethodNotAllowed: true, sessile.CodeSessionKeyTaken: true}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			own, _ := op.Extensions["x-error-codes"].(map[string]any)
			for status := range own {
				if op.Responses.Value(status) == nil {
					t.Errorf("%s %s lists codes for %s, which it does not describe", method, path, status)
				}
			}
			for text := range op.Responses.Map() {
				status, err := strconv.Atoi(text)
				if err != nil || status < 400 {
					continue
				}
				codes := apitest.Codes(op, status)
				if len(codes) == 0 {
					t.Errorf("%s %s describes %d without a code", method, path, status)
				}
				for _, text := range codes {
					code := sessile.Code(text)
					used[code] = true
					if statuses[code] != status && elsewhere[code] != status {
						t.Errorf("%s %s lists %s for %d, it has %d", method, path, code, status, statuses[code])
					}
				}
			}
		}
	}
	// Callers of a tool see these as tool_error; programs that link the library meet them as they are.
	ofTheLibrary := []sessile.Code{sessile.CodeEntryTooLarge, sessile.CodeRevisionMismatch}
	for code := range statuses {
		if !used[code] && !slices.Contains(ofTheLibrary, code) {
			t.Errorf("no operation lists %s", code)
		}
	}
}

// Words that the document repeats are those of the tables here.
func TestWordsAreDescribed(t *testing.T) {
	schemas := document(t).Components.Schemas
	field := schemas["FieldError"].Value.Properties["code"].Value
	words := []any{
		wrongSyntax, wrongMissing, wrongUnknown, wrongRepeated, wrongType, wrongEmpty, wrongLength, wrongPattern, wrongChoice,
		wrongRange, wrongPair,
	}
	if !reflect.DeepEqual(field.Enum, words) {
		t.Errorf("the words of field errors are %v, want %v", field.Enum, words)
	}
	input := schemas["SessionInput"].Value.Properties
	details := strings.Fields("display_name subject chat_type spawned_by parent_session_key owner_session_key origin delivery_context " +
		"last_channel last_to last_account_id last_thread_id spawn_depth input_tokens output_tokens cache_read cache_write " +
		"total_tokens context_tokens updated_at")
	for _, s := range settings {
		member := input[s.name]
		if member == nil {
			t.Errorf("a session may be made with %s, which the document does not know", s.name)
		} else if member.Value.Nullable != s.nullable {
			t.Errorf("%s: the document says nullable %v", s.name, member.Value.Nullable)
		}
	}
	for _, name := range details {
		if input[name] == nil {
			t.Errorf("a session may be made with %s, which the document does not know", name)
		}
	}
	if want := len(settings) + len(details) + 6; len(input) != want {
		t.Errorf("the document knows %d members to make a session with, there are %d", len(input), want)
	}
	name := schemas["NamespaceName"].Value
	if *name.MaxLength != sessile.MaxNamespaceLength || *schemas["SlotName"].Value.MaxLength != sessile.MaxSlotLength ||
		*input["title"].Value.MaxLength != sessile.MaxTitleLength {
		t.Error("a limit of the document is not the one of the root package")
	}
}
