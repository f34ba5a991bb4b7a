/**
 * The path of a YAML field at a position. It is found by indentation, because a document is usually not valid while
 * someone types. Pure.
 */

/** Names of fields from the top; `[]` stands for any element of a list. */
export type FieldPath = readonly string[];

export const ELEMENT = '[]';

export interface Field {
  /** The map that contains the field. */
  readonly parent: FieldPath;
  /** As far as it is written. */
  readonly name: string;
  /** What is written after the colon; undefined without a colon. */
  readonly value: string | undefined;
  /** Where the name begins; 0-based. */
  readonly start: number;
}

const LINE = /^( *)((?:- +|-$)*)(?:(["']?)([\w./-]+)\3 *(?::(?: +(.*))?$)?)?/;

interface Line {
  /** Of the first dash, or of the name. */
  readonly indent: number;
  /** Of the name. */
  readonly start: number;
  readonly isElement: boolean;
  readonly name: string | undefined;
  readonly value: string | undefined;
  readonly hasColon: boolean;
}

function readLine(text: string): Line {
  const [, blanks = '', dashes = '', quote = '', name, value] = LINE.exec(text) ?? [];
  const start = blanks.length + dashes.length;
  const hasColon = name !== undefined && /^ *:( |$)/.test(text.slice(start + name.length + 2 * quote.length));
  return { indent: blanks.length, start, isElement: dashes !== '', name, value, hasColon };
}

/** @param line 0-based @param lines of the text */
export function fieldAt(lines: readonly string[], line: number): Field {
  const current = readLine((lines[line] ?? '').trimEnd());
  const name = current.name ?? '';
  const value = current.hasColon ? (current.value ?? '') : undefined;
  const path: string[] = [];
  // An empty line continues the map above it at the column of the cursor, which is the end of the line.
  const start = current.name === undefined && !current.isElement ? (lines[line] ?? '').length : current.start;
  /** The columns of names and of dashes that contain the field are before these. */
  let [names, dashes] = [start, start];
  const enterElement = (indent: number): void => {
    path.unshift(ELEMENT);
    // The field of a list may be at the column of its dashes.
    [names, dashes] = [indent + 1, indent];
  };
  if (current.isElement) enterElement(current.indent);
  for (let at = line - 1; at >= 0 && names > 0; at--) {
    const text = (lines[at] ?? '').trimEnd();
    if (text === '---') break;
    if (text.trim() === '' || text.trimStart().startsWith('#')) continue;
    const above = readLine(text);
    if (above.hasColon && above.name !== undefined && above.start < names) {
      path.unshift(above.name);
      [names, dashes] = [above.start, above.start];
    }
    if (above.isElement && above.indent < dashes) enterElement(above.indent);
  }
  return { parent: path, name, value, start: current.start };
}

/** The lines of the document in which a line is, for files with several documents. */
export function documentAround(lines: readonly string[], line: number): readonly string[] {
  const isSeparator = (text: string): boolean => /^---\s*$/.test(text);
  const start = lines.slice(0, line + 1).findLastIndex(isSeparator) + 1;
  const end = lines.findIndex((text, at) => at > line && isSeparator(text));
  return lines.slice(start, end < 0 ? lines.length : end);
}

/**
 * The lines below a field, without their indentation: the field of that name above the line that is nearest to it.
 * @param line 0-based
 */
export function blockOf(lines: readonly string[], line: number, name: string): readonly string[] {
  const start = lines.slice(0, line).findLastIndex((text) => readLine(text.trimEnd()).name === name);
  const outer = readLine((lines[start] ?? '').trimEnd()).start;
  const below = lines.slice(start + 1);
  const indentOf = (text: string): number => text.length - text.trimStart().length;
  const end = below.findIndex((text) => text.trim() !== '' && indentOf(text) <= outer);
  const block = end < 0 ? below : below.slice(0, end);
  const indent = indentOf(block.find((text) => text.trim() !== '') ?? '');
  return block.map((text) => text.slice(indent));
}
