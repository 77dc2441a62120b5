package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxInput bounds what is read from standard input, well above what a server takes.
const maxInput = 64 << 20

// textArgument is an argument, or all of standard input for "-".
func textArgument(to streams, argument string) (string, error) {
	if argument != "-" {
		return argument, nil
	}
	input, err := io.ReadAll(io.LimitReader(to.in, maxInput+1))
	if err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	if len(input) > maxInput {
		return "", &usageError{fmt.Sprintf("standard input holds more than %d bytes", maxInput), ""}
	}
	return string(input), nil
}

// jsonArgument is an argument that is JSON, or all of standard input for "-".
func jsonArgument(to streams, argument string) (jsontext.Value, error) {
	text, err := textArgument(to, argument)
	if err != nil {
		return nil, err
	}
	return parseJSON(text, "")
}

// parseJSON checks a value before it is sent anywhere. What else the command takes ends the hint.
func parseJSON(text, otherwise string) (jsontext.Value, error) {
	value := jsontext.Value(strings.TrimSpace(text))
	if !value.IsValid(jsontext.AllowDuplicateNames(true)) {
		return nil, &usageError{"the value is not JSON", `a text needs quotes of its own ('"like this"')` + otherwise}
	}
	return value, nil
}
