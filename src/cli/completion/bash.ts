/** Completion for bash 3.2 (the version of macOS) and later. Pure. */
import { allOf, type CompletedCommand } from './model.ts';
import { codeOf, COMPLETE, indented, PROGRAMS, quoted, stepRows, valueRows } from './script.ts';

export function bashScript(root: CompletedCommand): string {
  const answers = allOf(root).map(({ path, commands, options, values }) => {
    const words = commands.flatMap(({ names }) => names.slice(0, 1)).join(' ');
    const flags = options.flatMap((option) => option.flags).join(' ');
    return `${quoted(path)}) commands=${quoted(words)} flags=${quoted(flags)} values=${quoted(values ? codeOf(values) : '')} ;;`;
  });
  return `# bash completion for espalier, written by "espalier completion bash"

_espalier_values() {
  local IFS=$' \\n'
  case "$1" in
    words:*) COMPREPLY=($(compgen -W "\${1#words:}" -- "$2")); return ;;
    asked)
      COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | grep -v '^:')" -- "$2"))
      return ;;
    files|folders) compopt -o filenames 2>/dev/null ;;
  esac
  IFS=$'\\n'
  case "$1" in
    files) COMPREPLY=($(compgen -f -- "$2")) ;;
    folders) COMPREPLY=($(compgen -d -- "$2")) ;;
  esac
}

_espalier() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at='' awaits='' word commands flags values i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ "$word" == '=' ]] && continue
    if [[ -n "$awaits" ]]; then awaits=''; continue; fi
    case "$at $word" in
${indented([...stepRows(root), ...valueRows(root)], 6)}
    esac
  done
  [[ "$current" == '=' ]] && current=''
  if [[ -n "$awaits" ]]; then _espalier_values "$awaits" "$current"; return; fi
  case "$at" in
${indented(answers, 4)}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ -n "$commands" ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  else
    _espalier_values "$values" "$current"
  fi
}

complete -F _espalier ${PROGRAMS.join(' ')}
`;
}
