/** Completion for fish, with descriptions of commands and options. Pure. */
import { allOf, type CompletedCommand, type CompletedOption, type Values } from './model.ts';
import { COMPLETE, indented, oneLine, PROGRAMS } from './script.ts';

export function fishScript(root: CompletedCommand): string {
  const all = allOf(root);
  const steps = all.flatMap(({ path, commands }) =>
    commands.map(
      (command) =>
        `case ${command.names.map((name) => fishQuoted(`${path} ${name}`)).join(' ')}; set at ${fishQuoted(command.path)}`,
    ),
  );
  const waiting = all.flatMap(({ path, options }) =>
    options.flatMap(({ flags, values }) =>
      values ? [`case ${flags.map((flag) => fishQuoted(`${path} ${flag}`)).join(' ')}; set skips 1`] : [],
    ),
  );
  const rows = all.flatMap(({ path, commands, options, values }) => {
    const here = `-n ${fishQuoted(`__espalier_is_at ${fishQuoted(path)}`)}`;
    return [
      ...commands.map(({ names: [name = ''], summary }) => `${here} -a ${name} ${described(summary)}`),
      ...(values && commands.length === 0 && values.is !== 'text' ? [`${here} ${argument(values)}`] : []),
      ...options.map((option) => `${here} ${flagsOf(option)} ${described(option.summary)}`),
    ];
  });
  return `# fish completion for espalier, written by "espalier completion fish"

# The command that the words before the cursor lead to.
function __espalier_is_at
    set -l at ''
    set -l skips 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skips = 1
            set skips 0
            continue
        end
        switch "$at $word"
${indented([...steps, ...waiting], 12)}
        end
    end
    test "$at" = "$argv[1]"
end

function __espalier_asked
    set -l words (commandline -opc) (commandline -ct)
    type -q $words[1]; or return
    $words[1] ${COMPLETE} $words[2..-1] 2>/dev/null | string match -v ':*'
end

${PROGRAMS.map((program) => `complete -c ${program} -f\n${rows.map((row) => `complete -c ${program} ${row}`).join('\n')}`).join('\n')}
`;
}

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const described = (summary: string): string => `-d ${fishQuoted(oneLine(summary))}`;

const flagsOf = ({ flags, values }: CompletedOption): string =>
  [
    ...flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)),
    ...(values ? [wanted(values)] : []),
  ].join(' ');

/** The possible values of an option. */
const wanted = (values: Values): string =>
  values.is === 'files' ? '-r -F' : `-x ${argument(values)}`.trim();

function argument(values: Values): string {
  switch (values.is) {
    case 'words':
      return `-a ${fishQuoted(values.words.join(' '))}`;
    case 'files':
      return '-F';
    case 'folders':
      return "-a '(__fish_complete_directories)'";
    case 'text':
      return '';
    default:
      return "-a '(__espalier_asked)'";
  }
}
