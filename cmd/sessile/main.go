// Command sessile is the server of Sessile, and the place where all its packages are wired together.
package main

import (
	"context"
	"os"
	"slices"
)

// version and commit are set by the linker (-X main.version=…) when a release is built. They are the only variables of
// this kind; what is empty comes from the build information of Go.
var version, commit string

func main() {
	streams := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	args := os.Args[1:]
	if slices.Equal(args, []string{"--version"}) {
		args = []string{"version"}
	}
	os.Exit(run(context.Background(), args, streams))
}
