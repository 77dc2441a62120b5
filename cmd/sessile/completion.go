package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand is sessile completion.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help is shown below the usage.
func (completionCommand) Help() string {
	return `Load it in bash or zsh with: source <(sessile completion bash)
and in fish with: sessile completion fish | source`
}

// Run prints a script that was made from the commands there are.
func (c *completionCommand) Run(app *kong.Kong, to streams) error {
	places := placesOf(app.Model.Node, "", nil)
	var script string
	switch c.Shell {
	case "bash":
		script = bashCompletion(places)
	case "zsh":
		script = zshCompletion(places)
	default:
		script = fishCompletion(places)
	}
	return newPrinter(to, false).print(script)
}

// place is a command with what may follow it. Path is like /state/get, "" for sessile itself.
type place struct {
	path     string
	commands []offer
	flags    []offer
}

// offer is a word that can be typed.
type offer struct {
	word, help string
	isSwitch   bool     // a flag without a value
	values     []string // what the flag may be set to
	file       bool     // it names a file
}

// placesOf walks the commands. Flags of a command may follow its subcommands, too.
func placesOf(node *kong.Node, path string, flags []offer) []place {
	here := place{path: path, flags: slices.Clone(flags)}
	for _, flag := range node.Flags {
		if flag.Hidden {
			continue
		}
		o := offer{word: flag.Name, help: flag.Help, isSwitch: flag.IsBool(), file: slices.Contains([]string{"db", "config", "file", "tree", "sessions"}, flag.Name)}
		for value := range strings.SplitSeq(flag.Enum, ",") {
			if value != "" {
				o.values = append(o.values, value)
			}
		}
		here.flags = append(here.flags, o)
	}
	var below []place
	for _, child := range node.Children {
		if child.Hidden || child.Type != kong.CommandNode {
			continue
		}
		here.commands = append(here.commands, offer{word: child.Name, help: child.Help})
		below = append(below, placesOf(child, path+"/"+child.Name, here.flags)...)
	}
	for _, argument := range node.Positional {
		for value := range strings.SplitSeq(argument.Enum, ",") {
			if value != "" {
				here.commands = append(here.commands, offer{word: value, help: argument.Help})
			}
		}
	}
	return append([]place{here}, below...)
}

// paths joins the paths of all commands for a shell's case.
func paths(places []place, separator string) string {
	var list []string
	for _, p := range places {
		if p.path != "" {
			list = append(list, p.path)
		}
	}
	return strings.Join(list, separator)
}

func words(offers []offer, prefix string) string {
	list := make([]string, 0, len(offers))
	for _, o := range offers {
		list = append(list, prefix+o.word)
	}
	return strings.Join(list, " ")
}

func bashCompletion(places []place) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# bash completion for sessile, made by: sessile completion bash
_sessile() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} at= commands= flags= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/${COMP_WORDS[i]}" in
      %s) at+="/${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$at $previous" in
`, paths(places, "|"))
	for _, p := range places {
		for _, flag := range p.flags {
			switch {
			case flag.file:
				fmt.Fprintf(&b, "    \"%s --%s\") compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n", p.path, flag.word)
			case len(flag.values) > 0:
				fmt.Fprintf(&b, "    \"%s --%s\") COMPREPLY=($(compgen -W \"%s\" -- \"$current\")); return ;;\n",
					p.path, flag.word, strings.Join(flag.values, " "))
			case !flag.isSwitch:
				fmt.Fprintf(&b, "    \"%s --%s\") return ;;\n", p.path, flag.word)
			}
		}
	}
	b.WriteString("  esac\n  case \"$at\" in\n")
	for _, p := range places {
		fmt.Fprintf(&b, "    \"%s\") commands=\"%s\" flags=\"%s\" ;;\n", p.path, words(p.commands, ""), words(p.flags, "--"))
	}
	b.WriteString(`  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$current")) ;;
  esac
}
complete -F _sessile sessile
`)
	return b.String()
}

func zshCompletion(places []place) string {
	var b strings.Builder
	fmt.Fprintf(&b, `#compdef sessile
# zsh completion for sessile, made by: sessile completion zsh
_sessile() {
  local at= word
  local -a commands flags
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$at/$word" in
      (%s) at+="/$word" ;;
    esac
  done
  case "$at ${words[CURRENT-1]}" in
`, paths(places, "|"))
	for _, p := range places {
		for _, flag := range p.flags {
			switch {
			case flag.file:
				fmt.Fprintf(&b, "    (\"%s --%s\") _files; return ;;\n", p.path, flag.word)
			case len(flag.values) > 0:
				fmt.Fprintf(&b, "    (\"%s --%s\") compadd -- %s; return ;;\n", p.path, flag.word, strings.Join(flag.values, " "))
			case !flag.isSwitch:
				fmt.Fprintf(&b, "    (\"%s --%s\") return ;;\n", p.path, flag.word)
			}
		}
	}
	b.WriteString("  esac\n  case \"$at\" in\n")
	for _, p := range places {
		fmt.Fprintf(&b, "    (\"%s\")\n", p.path)
		fmt.Fprintf(&b, "      commands=(%s)\n", described(p.commands, ""))
		fmt.Fprintf(&b, "      flags=(%s) ;;\n", described(p.flags, "--"))
	}
	b.WriteString(`  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o flag flags
  elif (( $#commands )); then
    _describe command commands
  fi
}
if [[ ${funcstack[1]} == _sessile ]]; then
  _sessile "$@"
else
  compdef _sessile sessile
fi
`)
	return b.String()
}

// described lists words with their help in the form of zsh.
func described(offers []offer, prefix string) string {
	list := make([]string, 0, len(offers))
	for _, o := range offers {
		list = append(list, singleQuoted(prefix+o.word+":"+strings.ReplaceAll(o.help, ":", `\:`)))
	}
	return strings.Join(list, " ")
}

// singleQuoted quotes a text for bash and zsh.
func singleQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func fishCompletion(places []place) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# fish completion for sessile, made by: sessile completion fish
function __sessile_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at/$word"
      case %s
        set at "$at/$word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c sessile -f
`, paths(places, " "))
	for _, p := range places {
		for _, command := range p.commands {
			fmt.Fprintf(&b, "complete -c sessile -n '__sessile_at \"%s\"' -a %s -d %s\n", p.path, command.word, fishQuoted(command.help))
		}
		for _, flag := range p.flags {
			fmt.Fprintf(&b, "complete -c sessile -n '__sessile_at \"%s\"' -l %s%s -d %s\n", p.path, flag.word, fishValues(flag), fishQuoted(flag.help))
		}
	}
	return b.String()
}

// fishValues tells what follows a flag.
func fishValues(flag offer) string {
	switch {
	case flag.file:
		return " -r -F"
	case len(flag.values) > 0:
		return " -x -a " + fishQuoted(strings.Join(flag.values, " "))
	case flag.isSwitch:
		return ""
	default:
		return " -x"
	}
}

// fishQuoted quotes a text for fish.
func fishQuoted(text string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "'", `\'`) + "'"
}
