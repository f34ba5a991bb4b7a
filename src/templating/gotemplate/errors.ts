/** Template errors with their position in the source. Messages are Go's, so that users recognise them. */
import { byteLength, toValidText } from '../go/go-string.ts';

export { LimitError } from '../budget.ts';

export interface TemplatePlace {
  /** Name of the parsed source. */
  readonly template: string;
  /** 1-based. */
  readonly line: number;
  /** Bytes before the position in its line, 0-based as in Go; undefined if only the line is known. */
  readonly column: number | undefined;
  /** The content of the line. */
  readonly sourceLine: string;
}

/** A template that cannot be parsed or executed. */
export class TemplateError extends Error {
  readonly template: string;
  readonly line: number;
  readonly column: number | undefined;
  readonly sourceLine: string;
  /** The reason, without the position. */
  readonly reason: string;
  /** Details that Go's message does not contain: the missing value, similar names. undefined if there are none. */
  hint: string | undefined;

  constructor(
    message: string,
    place: TemplatePlace,
    reason: string,
    { hint, ...options }: ErrorOptions & { readonly hint?: string | undefined } = {},
  ) {
    super(toValidText(message), options);
    this.hint = hint;
    this.name = new.target.name;
    this.template = place.template;
    this.line = place.line;
    this.column = place.column;
    this.sourceLine = place.sourceLine;
    this.reason = reason;
  }
}

/** The template cannot be parsed. */
export class TemplateParseError extends TemplateError {}

/** The template is valid, but fails with these values. */
export class TemplateExecutionError extends TemplateError {}

/** The execution exceeded a limit for size or time. */
export class TemplateLimitExceeded extends TemplateExecutionError {}

/** An error of a function about its arguments; the evaluator adds the position. */
export { GoError as FunctionError } from '../go/errors.ts';

const lineOf = (source: string, line: number): string => source.split('\n')[line - 1] ?? '';

export function placeOfLine(template: string, source: string, line: number): TemplatePlace {
  return { template, line, column: undefined, sourceLine: lineOf(source, line) };
}

export function placeOf(template: string, source: string, pos: number): TemplatePlace {
  const before = source.slice(0, pos);
  const start = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  return { template, line, column: byteLength(before.slice(start)), sourceLine: lineOf(source, line) };
}
