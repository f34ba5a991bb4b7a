/** The completion model of all commands, read from the command definitions. */
import { table } from '../../lib/objects.ts';
import type { Argument, Command, Option } from 'commander';

/** The possible values of an argument or option. */
export type Values =
  | { readonly is: 'words'; readonly words: readonly string[] }
  | { readonly is: 'files' | 'folders' }
  /** Names that the program finds out while the user types. */
  | { readonly is: AskedValues }
  /** Free text that cannot be completed, for example a name. */
  | { readonly is: 'text' };

const asked = ['installations', 'imports', 'jobs', 'namespaces', 'contexts', 'schemas'] as const;

export type AskedValues = (typeof asked)[number];

export const isAsked = (values: Values): values is { readonly is: AskedValues } =>
  (asked as readonly string[]).includes(values.is);

export interface CompletedOption {
  /** `-o` and `--output`, or one of them. */
  readonly flags: readonly string[];
  readonly summary: string;
  /** undefined for an option without a value. */
  readonly values: Values | undefined;
}

export interface CompletedCommand {
  /** `/installations/inspect`; empty for the program. */
  readonly path: string;
  /** Its name, then its aliases. */
  readonly names: readonly string[];
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  /** Values of its first argument; undefined if it has none. */
  readonly values: Values | undefined;
  /** Values of the arguments after it. */
  readonly furtherValues: readonly Values[];
  /** Whether the last argument may be repeated. */
  readonly isVariadic: boolean;
  readonly commands: readonly CompletedCommand[];
}

export function completionModel(program: Command): CompletedCommand {
  return modelOf(program, '');
}

/** The command and all commands below it, parents first. */
export const allOf = (command: CompletedCommand): readonly CompletedCommand[] => [
  command,
  ...command.commands.flatMap(allOf),
];

function modelOf(command: Command, path: string): CompletedCommand {
  const help = command.createHelp();
  const commands = help
    .visibleCommands(command)
    .map((one) => modelOf(one, `${path}/${one.name()}`))
    .map((one) => (one.names[0] === 'help' ? withCommandNames(one, command) : one));
  const [values, ...furtherValues] = command.registeredArguments.map((argument, i) =>
    i === 0 && INSTALLATION.has(path)
      ? { is: 'installations' as const }
      : valuesOf(argument, argument.name()),
  );
  return {
    path,
    names: [command.name(), ...command.aliases()],
    summary: command.summary() || command.description(),
    options: help.visibleOptions(command).map(optionOf),
    values,
    furtherValues,
    isVariadic: command.registeredArguments.at(-1)?.variadic ?? false,
    commands,
  };
}

/** The help command takes the names of its sibling commands. */
const withCommandNames = (help: CompletedCommand, { commands }: Command): CompletedCommand => ({
  ...help,
  values: { is: 'words', words: commands.map((one) => one.name()) },
  options: [],
});

const optionOf = (option: Option): CompletedOption => ({
  flags: [option.short, option.long].filter((flag) => flag !== undefined),
  summary: option.description,
  values:
    option.required || option.optional
      ? (OPTIONS[option.long ?? ''] ?? valuesOf(option, placeholderIn(option.flags)))
      : undefined,
});

const OPTIONS: Readonly<Record<string, Values>> = table({
  '--namespace': { is: 'namespaces' },
  '--context': { is: 'contexts' },
});

/** Arguments by the name on the help page. */
const ARGUMENTS: Readonly<Record<string, Values>> = table({
  import: { is: 'imports' },
  job: { is: 'jobs' },
  from: { is: 'jobs' },
  to: { is: 'jobs' },
  schema: { is: 'schemas' },
});

/** Commands whose argument is the name of an installation. */
const INSTALLATION: ReadonlySet<string> = new Set([
  ...['inspect', 'events', 'trace', 'reconcile', 'interrupt', 'rollback', 'force-delete'].map(
    (name) => `/installations/${name}`,
  ),
  '/jobs/list',
  '/jobs/show',
  '/jobs/timeline',
  '/jobs/diff',
  '/plan',
  '/logs',
]);

const placeholderIn = (flags: string): string => /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? '';

const FILES: ReadonlySet<string> = new Set(['file', 'path', 'archive', 'blueprint', 'place', 'subject']);
const FOLDERS: ReadonlySet<string> = new Set(['folder', 'directory']);

function valuesOf({ argChoices }: Option | Argument, placeholder: string): Values {
  if (argChoices) return { is: 'words', words: argChoices };
  const known = ARGUMENTS[placeholder];
  if (known) return known;
  if (FILES.has(placeholder)) return { is: 'files' };
  return FOLDERS.has(placeholder) ? { is: 'folders' } : { is: 'text' };
}
