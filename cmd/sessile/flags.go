package main

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/sessile-dev/sessile/config"
)

// newSettingFlags makes a pointer to a structure with one field per setting, in the order of [config.Settings], in the
// form that kong understands. The table of settings stays the only place where a setting is named.
func newSettingFlags() any {
	var fields []reflect.StructField
	for i, s := range config.Settings() {
		help := fmt.Sprintf("%s [%s]", s.Meaning, s.Env)
		if s.Default != "" {
			help = fmt.Sprintf("%s (%s) [%s]", s.Meaning, s.Default, s.Env)
		}
		kind := reflect.TypeFor[*string]()
		if s.Switch {
			kind = reflect.TypeFor[*bool]()
		}
		tag := fmt.Sprintf(`name:%s help:%s`, strconv.Quote(s.Flag), strconv.Quote(help))
		if !s.Switch {
			tag += ` placeholder:"…"`
		}
		fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(i), Type: kind, Tag: reflect.StructTag(tag)})
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// given collects the flags that were given, by name.
func given(plugins kong.Plugins) map[string]string {
	flags := map[string]string{}
	for _, plugin := range plugins {
		fields := reflect.ValueOf(plugin).Elem()
		for i, s := range config.Settings() {
			field := fields.Field(i)
			if field.IsNil() {
				continue
			}
			if s.Switch {
				flags[s.Flag] = strconv.FormatBool(field.Elem().Bool())
			} else {
				flags[s.Flag] = field.Elem().String()
			}
		}
	}
	return flags
}
