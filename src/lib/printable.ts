/**
 * Text that is safe on a terminal or a web page. Messages quote tenants, their servers and their pods: with control
 * sequences, they could hide or replace other lines, or write to the clipboard of the reader. Pure.
 */

const escaped = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;

/** One line: control and format characters, also line breaks, become escapes such as `\u001b`. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, escaped);

/** The colours of this program, and special characters. */
const SPECIAL = /\u001b\[(?:[012]|2[24]|3[1-369])m|[\p{Cc}\p{Cf}]/gu;

/** Output of several lines: line breaks, tabs and this program's colours keep their effect. */
export const printableLines = (text: string): string =>
  text.replace(SPECIAL, (found) =>
    found === '\n' || found === '\t' || found.startsWith('\u001b[') ? found : escaped(found),
  );

/** Characters that change the order of the text after them: embeddings, overrides and isolates. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/** JSON for a web page, which shows characters that reorder text as escapes such as `\u202e`. */
export const readableJson = (value: unknown): string =>
  JSON.stringify(value).replace(REORDERING, (found) => `\\${escaped(found)}`);
