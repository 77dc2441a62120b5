package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(to streams) error {
	v := buildVersion()
	_, err := fmt.Fprintf(to.out, "sessile %s (commit %s, %s)\n", v.version, v.commit, v.goVersion)
	return err
}

type buildInfo struct {
	version, commit, goVersion string
}

// buildVersion tells what was built: as the linker was told, else as Go recorded it.
func buildVersion() buildInfo {
	v := buildInfo{version: version, commit: commit, goVersion: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.version == "" && info.Main.Version != "(devel)" {
			v.version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && v.commit == "" {
				v.commit = s.Value
			}
		}
	}
	if v.version == "" {
		v.version = "dev"
	}
	if v.commit == "" {
		v.commit = "unknown"
	}
	return v
}
