package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestDataDir(t *testing.T) {
	home, absolute := t.TempDir(), t.TempDir()
	tests := []struct {
		name, system string
		env          map[string]string
		want         string
	}{
		{"linux", "linux", nil, filepath.Join(home, ".local", "share", "sessile")},
		{"linux with XDG", "linux", map[string]string{"XDG_DATA_HOME": absolute}, filepath.Join(absolute, "sessile")},
		{"a relative XDG is ignored", "linux", map[string]string{"XDG_DATA_HOME": "data"}, filepath.Join(home, ".local", "share", "sessile")},
		{"macOS", "darwin", map[string]string{"XDG_DATA_HOME": absolute}, filepath.Join(home, "Library", "Application Support", "Sessile")},
		{"Windows", "windows", map[string]string{"LOCALAPPDATA": absolute}, filepath.Join(absolute, "Sessile")},
		{"Windows without", "windows", nil, filepath.Join(home, "AppData", "Local", "Sessile")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			getenv := func(name string) string { return test.env[name] }
			got, err := dataDir(test.system, getenv, func() (string, error) { return home, nil })
			if err != nil || got != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
}

func TestDataDirWithoutHome(t *testing.T) {
	homeless := func() (string, error) { return "", errors.New("no home") }
	if _, err := dataDir("linux", func(string) string { return "" }, homeless); err == nil {
		t.Fatal("no error")
	}
	_, err := Load(Inputs{
		LookupEnv: func(string) (string, bool) { return "", false },
		DataDir:   func() (string, error) { return dataDir("linux", func(string) string { return "" }, homeless) },
	})
	if err == nil || !strings.Contains(err.Error(), "--db") {
		t.Errorf("the error is %v", err)
	}
}
