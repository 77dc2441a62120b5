package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile/config"
)

// configCommand is sessile config.
type configCommand struct {
	Settings kong.Plugins `embed:""`
	Table    bool         `help:"Print a table of all settings, as Markdown, instead of what is in force."`
	JSON     bool         `name:"json" help:"Print as JSON."`
}

// inForce is a setting as JSON.
type inForce struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Source  string `json:"source"`
}

// Run prints every setting with its value and where that came from.
func (c *configCommand) Run(to streams) error {
	p := newPrinter(to, c.JSON)
	if c.Table {
		return p.print(settingsTable())
	}
	loaded, err := config.Load(config.Inputs{Flags: given(c.Settings)})
	if err != nil {
		return err
	}
	t := table{head: []string{"SETTING", "VALUE", "SOURCE"}}
	list := []inForce{}
	for _, v := range loaded.Values() {
		one := inForce{Setting: settingName(v.Setting), Value: v.Value, Source: v.Source}
		if v.Secret && one.Value != "" {
			one.Value = "(set)"
		}
		list = append(list, one)
		t.add(text(one.Setting), text(one.Value), text(one.Source))
	}
	if p.data, err = json.Marshal(list); err != nil {
		return err
	}
	return p.show(func(b *strings.Builder) { t.write(b, p) })
}

// settingName is the key in the file, or the flag of a setting that cannot stand there.
func settingName(s config.Setting) string {
	if s.Key == "" {
		return "--" + s.Flag
	}
	return s.Key
}

// settingsTable is docs/settings.md, which a test keeps as it is here.
func settingsTable() string {
	var b strings.Builder
	b.WriteString(`# Settings

<!-- Made by "sessile config --table". Change the table in package config, then run the tests of cmd/sessile with -update. -->

Every setting has one name in three spellings: a flag of ` + "`sessile serve`" + `, an environment variable, and a key of
the YAML file that ` + "`--config`" + ` names. A flag beats the environment, the environment beats the file, and the file
beats the default. ` + "`sessile config`" + ` prints what is in force and where it came from.

| flag | environment | file key | default | meaning |
| --- | --- | --- | --- | --- |
`)
	for _, s := range config.Settings() {
		fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s | %s |\n", s.Flag, s.Env, quoted(s.Key), quoted(s.Default),
			strings.ReplaceAll(s.Meaning, "|", `\|`))
	}
	return b.String()
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
