package main

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

func TestOnlyGivenFlagsCount(t *testing.T) {
	tests := []struct {
		args []string
		want map[string]string
	}{
		{nil, map[string]string{}},
		{[]string{"--listen", "127.0.0.1:1"}, map[string]string{"listen": "127.0.0.1:1"}},
		{[]string{"--listen=127.0.0.1:1", "--quota-value-bytes=5"}, map[string]string{"listen": "127.0.0.1:1", "quota-value-bytes": "5"}},
		{[]string{"--access-log"}, map[string]string{"access-log": "true"}},
		{[]string{"--enable-client-data=false"}, map[string]string{"enable-client-data": "false"}},
		{[]string{"--db="}, map[string]string{"db": ""}},
	}
	for _, test := range tests {
		var line struct {
			Settings kong.Plugins `embed:""`
		}
		line.Settings = kong.Plugins{newSettingFlags()}
		parser, err := kong.New(&line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(test.args); err != nil {
			t.Errorf("%v: %v", test.args, err)
			continue
		}
		if diff := cmp.Diff(test.want, given(line.Settings)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.args, diff)
		}
	}
}
