package extstate

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// readAll accepts every text that the other side can have written: it takes repeated members (the last one counts) and
// lone surrogates.
var readAll = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// asText writes values as the other side does: no text of HTML is escaped, numbers that JSON does not have are null, and
// there is one zero (section 8). Members of Go maps are sorted, so that the same value gives the same text.
var asText = json.JoinOptions(json.Deterministic(true), jsontext.AllowDuplicateNames(true), json.WithMarshalers(
	json.JoinMarshalers(json.MarshalToFunc(marshalFloat[float64]), json.MarshalToFunc(marshalFloat[float32]))))

func marshalFloat[F float32 | float64](enc *jsontext.Encoder, f F) error {
	switch v := float64(f); {
	case math.IsNaN(v), math.IsInf(v, 0):
		return enc.WriteToken(jsontext.Null)
	case v == 0:
		return enc.WriteToken(jsontext.Int(0))
	}
	return errors.ErrUnsupported
}

// encode gives the text of a value. Raw JSON keeps its key order, its strings and the text of its numbers.
func encode(value any) ([]byte, error) {
	switch raw := value.(type) {
	case jsontext.Value:
		return compact(raw)
	case stdjson.RawMessage:
		return compact(raw)
	}
	text, err := json.Marshal(value, asText)
	if err != nil {
		return nil, &ValueError{Err: err, reason: "not serializable"}
	}
	return text, nil
}

func compact(raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return nil, &ValueError{reason: "undefined"}
	}
	if !utf8.Valid(raw) {
		return nil, &ValueError{Err: errors.New("not UTF-8"), reason: "not serializable"}
	}
	text := append(jsontext.Value(nil), raw...)
	if err := text.Compact(readAll); err != nil {
		return nil, &ValueError{Err: err, reason: "not serializable"}
	}
	return text, nil
}

// decode reads a text that is known to be JSON into a new value.
func decode[T any](text []byte) (T, error) {
	var value T
	switch raw := any(&value).(type) {
	case *jsontext.Value:
		*raw = append(jsontext.Value(nil), bytes.TrimSpace(text)...)
		return value, nil
	case *stdjson.RawMessage:
		*raw = append(stdjson.RawMessage(nil), bytes.TrimSpace(text)...)
		return value, nil
	}
	err := json.Unmarshal(text, &value, readAll)
	if err != nil {
		value = *new(T) // nothing of what was read before the fault
	}
	return value, err
}

// checkJSON reports what keeps a text from being JSON.
func checkJSON(text []byte) error {
	var raw jsontext.Value
	return json.Unmarshal(text, &raw, readAll)
}
