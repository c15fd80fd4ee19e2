package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"
)

// completionCmd prints the shell code that completes command lines. The shell then runs the program
// with the line in COMP_LINE, and terminal.Run prints the completions.
type completionCmd struct {
	Shell string `arg:"" optional:"" enum:"bash,zsh,fish," default:"" help:"bash, zsh or fish; without it your login shell."`
	Code  bool   `short:"c" help:"Print the code itself instead of how to use it."`
}

// Run implements the command.
func (c completionCmd) Run(parser *kong.Kong) error {
	shell := c.Shell
	if shell == "" {
		shell = filepath.Base(os.Getenv("SHELL"))
	}
	use, ok := completionUse[shell]
	if !ok {
		return fmt.Errorf("completion: expected bash, zsh or fish, as in sightline completion bash; your shell is %q", shell)
	}
	if !c.Code {
		_, err := fmt.Fprintf(parser.Stdout, "In this shell:\n\n    %s\n\nIn every new one: put that line into %s.\n", use.line, use.file)
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("completion: %w", err)
	}
	_, err = fmt.Fprintf(parser.Stdout, use.code, program)
	return err
}

// completionUse has, for each shell, the line that turns completion on, the file that a new shell
// reads, and the code, in which the program's path is filled in as bash and zsh read it. Where the
// program has no completions the shell completes file names.
var completionUse = map[string]struct{ line, file, code string }{
	"bash": {"source <(sightline completion -c bash)", "~/.bashrc", `complete -o default -o bashdefault -C "'%s'" sightline
`},
	// Without a .zshrc, zsh has not loaded its completion yet.
	"zsh": {"source <(sightline completion -c zsh)", "~/.zshrc", `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
autoload -Uz bashcompinit && bashcompinit
complete -o default -o bashdefault -C "'%s'" sightline
`},
	"fish": {"sightline completion -c fish | source", "~/.config/fish/config.fish", `function __complete_sightline
    set -l word (commandline -ct)
    set -lx COMP_LINE (commandline -cp)
    test -z "$word"; and set COMP_LINE "$COMP_LINE "
    set -l known ('%s')
    if test (count $known) -gt 0
        printf '%%s\n' $known
    else
        __fish_complete_path "$word"
    end
end
complete -f -c sightline -a "(__complete_sightline)"
`},
}
