export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * What a shell sources. The candidates come from the command itself, which knows its tree, the models and the profiles, so that a script
 * that was installed once never grows stale. Where there are none, files are offered.
 */
export const SCRIPTS: Record<Shell, string> = {
  bash: `# tallygate completion bash: source it from ~/.bashrc, or keep it as ~/.local/share/bash-completion/completions/tallygate
_tallygate() {
  local word about
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do COMPREPLY+=("$word"); done < <(tallygate complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _tallygate tallygate
`,
  zsh: `#compdef tallygate
# tallygate completion zsh: keep it as _tallygate in a folder of $fpath, or source it after compinit
_tallygate() {
  local word about
  local -a candidates
  while IFS=$'\\t' read -r word about; do candidates+=("\${word//:/\\\\:}\${about:+:}\${about}"); done < <(tallygate complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#candidates} )); then _describe -t values tallygate candidates; else _files; fi
}
if [ "\${funcstack[1]}" = _tallygate ]; then _tallygate "$@"; else compdef _tallygate tallygate; fi
`,
  fish: `# tallygate completion fish: keep it as ~/.config/fish/completions/tallygate.fish
function __tallygate_complete
  set -l candidates (tallygate complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if set -q candidates[1]
    printf '%s\\n' $candidates
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c tallygate -f -a '(__tallygate_complete)'
`,
};
