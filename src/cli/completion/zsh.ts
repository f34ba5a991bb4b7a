/** Completion for zsh, with descriptions of commands and options. Pure. */
import { allOf, type CompletedCommand } from './model.ts';
import { codeOf, COMPLETE, indented, oneLine, PROGRAMS, quoted, stepRows, valueRows } from './script.ts';

export function zshScript(root: CompletedCommand): string {
  const answers = allOf(root).map(({ path, commands, options, values }) => {
    const described = commands.map(({ names: [name = ''], summary }) => entry(name, summary));
    const flags = options.flatMap((option) => option.flags.map((flag) => entry(flag, option.summary)));
    return [
      `${quoted(path)})`,
      `  commands=(${described.join(' ')})`,
      `  flags=(${flags.join(' ')})`,
      `  values=${quoted(values ? codeOf(values) : '')} ;;`,
    ];
  });
  return `#compdef ${PROGRAMS.join(' ')}
# zsh completion for espalier, written by "espalier completion zsh"

_espalier_values() {
  case "$1" in
    words:*) compadd -- \${=1#words:} ;;
    asked) compadd -- \${(f)"$("\${words[1]}" ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null | grep -v '^:')"} ;;
    files) _files ;;
    folders) _files -/ ;;
    text) _message 'value' ;;
  esac
}

_espalier() {
  local at='' awaits='' word values
  local -a commands flags
  integer i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ -n "$awaits" ]]; then awaits=''; continue; fi
    case "$at $word" in
${indented([...stepRows(root), ...valueRows(root)], 6)}
    esac
  done
  if [[ -z "$awaits" && "\${words[CURRENT]}" == --*=* ]]; then
    case "$at \${words[CURRENT]%%=*}" in
${indented(valueRows(root), 6)}
    esac
    compset -P 1 '*='
  fi
  if [[ -n "$awaits" ]]; then _espalier_values "$awaits"; return; fi
  case "$at" in
${indented(answers.flat(), 4)}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o option flags
  elif (( \${#commands} )); then
    _describe command commands
  else
    _espalier_values "$values"
  fi
}

if [[ "\${funcstack[1]}" == _espalier ]]; then
  _espalier "$@"
else
  compdef _espalier ${PROGRAMS.join(' ')}
fi
`;
}

/** A colon separates the word from its description. */
const entry = (word: string, summary: string): string => {
  const text = oneLine(summary).replaceAll('\\', '\\\\').replaceAll(':', '\\:');
  return quoted(text === '' ? word : `${word}:${text}`);
};
