/** Script fragments that several shells share. */
import type { CompletedCommand, CompletedOption, Values } from './model.ts';
import { allOf, isAsked } from './model.ts';

/** The names of the program. */
export const PROGRAMS = ['espalier', 'kubectl-espalier'];

/** The first argument of a request for the possible last words of a line, as in programs built with cobra. */
export const COMPLETE = '__complete';

/** Quotes for all shells except fish, which accepts `\'` within quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The first sentence on one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** `words:text json`, `files`, `folders`, `asked` (the program prints them) or `text`. */
export function codeOf(values: Values): string {
  if (values.is === 'words') return `words:${values.words.join(' ')}`;
  return isAsked(values) ? 'asked' : values.is;
}

/** Rows of a `case` on the current command and the next word: the command that the word leads to. */
export const stepRows = (root: CompletedCommand): readonly string[] =>
  allOf(root).flatMap(({ path, commands }) =>
    commands.map((command) => {
      const words = command.names.map((name) => quoted(`${path} ${name}`)).join('|');
      return `${words}) at=${quoted(command.path)} ;;`;
    }),
  );

/** Rows of a `case` on command and option: the value that the option expects. */
export const valueRows = (root: CompletedCommand): readonly string[] =>
  allOf(root).flatMap(({ path, options }) =>
    options.flatMap(({ flags, values }: CompletedOption) =>
      values === undefined
        ? []
        : [
            `${flags.map((flag) => quoted(`${path} ${flag}`)).join('|')}) awaits=${quoted(codeOf(values))} ;;`,
          ],
    ),
  );

export const indented = (rows: readonly string[], by: number): string =>
  rows.map((row) => `${' '.repeat(by)}${row}`).join('\n');
