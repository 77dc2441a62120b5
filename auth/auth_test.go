package auth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/auth"
)

func TestOff(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/sessions", nil)
	r.Header.Set("X-Account-Id", "somebody")
	if account, err := auth.Off().Account(r); account != auth.DefaultAccount || err != nil {
		t.Errorf("got %q, %v", account, err)
	}
}

func TestAPIKeys(t *testing.T) {
	keys := auth.APIKeys([]auth.Key{
		{Text: "one", Account: "alice"},
		{Text: "two", Account: "bob"},
		{Text: "three"},
	})
	tests := []struct {
		name    string
		headers map[string]string
		account string
		code    sessile.Code
	}{
		{"header", map[string]string{"x-api-key": "one"}, "alice", ""},
		{"another key", map[string]string{"x-api-key": "two"}, "bob", ""},
		{"bearer", map[string]string{"Authorization": "Bearer two"}, "bob", ""},
		{"the scheme has no case", map[string]string{"Authorization": "bearer two"}, "bob", ""},
		{"the header comes first", map[string]string{"x-api-key": "one", "Authorization": "Bearer two"}, "alice", ""},
		{"a wrong header is not made good", map[string]string{"x-api-key": "no", "Authorization": "Bearer two"}, "", sessile.CodeAuthInvalidCredentials},
		{"account headers do not count", map[string]string{"x-api-key": "one", "x-account-id": "bob"}, "alice", ""},
		{"nothing", nil, "", sessile.CodeAuthRequired},
		{"empty header", map[string]string{"x-api-key": ""}, "", sessile.CodeAuthRequired},
		{"bearer without token", map[string]string{"Authorization": "Bearer "}, "", sessile.CodeAuthRequired},
		{"another scheme", map[string]string{"Authorization": "Basic b25lOng="}, "", sessile.CodeAuthRequired},
		{"wrong", map[string]string{"x-api-key": "on"}, "", sessile.CodeAuthInvalidCredentials},
		{"wrong bearer", map[string]string{"Authorization": "Bearer onee"}, "", sessile.CodeAuthInvalidCredentials},
		{"key without account", map[string]string{"x-api-key": "three"}, "", sessile.CodeAuthAccountUnresolved},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/sessions", nil)
			for name, text := range test.headers {
				r.Header.Set(name, text)
			}
			account, err := keys.Account(r)
			if account != test.account || sessile.CodeOf(err) != test.code {
				t.Errorf("got %q, %v; want %q, code %q", account, err, test.account, test.code)
			}
		})
	}
}

func TestNoKeysLetNobodyIn(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/sessions", nil)
	r.Header.Set("X-Api-Key", "one")
	if _, err := auth.APIKeys(nil).Account(r); sessile.CodeOf(err) != sessile.CodeAuthInvalidCredentials {
		t.Errorf("got %v", err)
	}
}

func TestParseKeys(t *testing.T) {
	tests := []struct {
		list string
		want []auth.Key
	}{
		{"one:alice", []auth.Key{{Text: "one", Account: "alice"}}},
		{"one:alice,two:bob", []auth.Key{{Text: "one", Account: "alice"}, {Text: "two", Account: "bob"}}},
		{" one : alice , two:bob ", []auth.Key{{Text: "one", Account: "alice"}, {Text: "two", Account: "bob"}}},
		{"a:b:c:alice", []auth.Key{{Text: "a:b:c", Account: "alice"}}},
		{"one:alice,one:alice", []auth.Key{{Text: "one", Account: "alice"}, {Text: "one", Account: "alice"}}},
	}
	for _, test := range tests {
		got, err := auth.ParseKeys(test.list)
		if err != nil {
			t.Errorf("%q: %v", test.list, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.list, diff)
		}
	}
}

func TestParseKeysProblems(t *testing.T) {
	tests := []struct{ list, want string }{
		{"", "no key"},
		{"  ", "no key"},
		{"hidden", "entry 1 has no colon"},
		{"hidden:alice,", "entry 2 has no colon"},
		{"hidden:alice,hidden2", "entry 2 has no colon"},
		{"hidden:", "entry 1 has no account"},
		{":hidden", "entry 1 has no key"},
		{"hidden:alice,hidden:bob", "entry 2 repeats"},
	}
	for _, test := range tests {
		_, err := auth.ParseKeys(test.list)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.list, err, test.want)
			continue
		}
		if strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: the message shows the key: %v", test.list, err)
		}
	}
}
