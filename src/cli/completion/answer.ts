/** Answers a shell that asks for the possible next words, in the format of kubectl and other programs built with cobra. */
import type { CompletedCommand, CompletedOption, Values } from './model.ts';

/** What can be the last word of a line. */
interface Expected {
  /** Names of commands, or options. */
  readonly words: readonly string[];
  readonly values: Values | undefined;
  /** The arguments of the command before it. */
  readonly args: readonly string[];
  /** Values of the options before it, by long flag. */
  readonly options: ReadonlyMap<string, string>;
}

/** @param words without the program; the last one is to be completed, and may be empty */
export function expectedAt(root: CompletedCommand, words: readonly string[]): Expected {
  const current = lastOf(words);
  const options = new Map<string, string>();
  const args: string[] = [];
  let command = root;
  let awaiting: CompletedOption | undefined;
  for (const word of words.slice(0, -1)) {
    // bash splits --option=value into three words.
    if (word === '=') continue;
    if (awaiting) {
      options.set(longFlag(awaiting), word);
      awaiting = undefined;
      continue;
    }
    const [flag = '', value] = word.split(/=(.*)/s);
    const option = command.options.find(({ flags }) => flags.includes(flag));
    if (option?.values && value === undefined) awaiting = option;
    else if (option && value !== undefined) options.set(longFlag(option), value);
    else {
      const next = command.commands.find(({ names }) => names.includes(word));
      if (next) command = next;
      else if (!option && !word.startsWith('-')) args.push(word);
    }
  }
  const before = { args, options };
  if (awaiting) return { words: [], values: awaiting.values, ...before };
  if (current.startsWith('-'))
    return { words: command.options.flatMap(({ flags }) => flags), values: undefined, ...before };
  const names = command.commands.flatMap((one) => one.names.slice(0, 1));
  return { words: names, values: names.length === 0 ? valuesAt(command, args.length) : undefined, ...before };
}

function valuesAt(
  { values, furtherValues, isVariadic }: CompletedCommand,
  index: number,
): Values | undefined {
  const all = values ? [values, ...furtherValues] : [];
  return all[index] ?? (isVariadic ? all.at(-1) : undefined);
}

/** The beginning of the word to complete. */
export function lastOf(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return last === '=' ? '' : last;
}

const longFlag = ({ flags }: CompletedOption): string => flags.at(-1) ?? '';

/** The last line of an answer tells the shell whether to offer files instead. */
export const DIRECTIVES = { files: ':0', noFiles: ':4', folders: ':16' } as const;
