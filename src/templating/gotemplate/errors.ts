/** What can go wrong with a template, with the place in its source. Messages are Go's, so that users recognise them. */
import { byteLength, toValidText } from '../go/go-string.ts';

export { LimitError } from '../budget.ts';

export interface TemplatePlace {
  /** Name under which the source was parsed. */
  readonly template: string;
  /** 1-based. */
  readonly line: number;
  /** Bytes before the place in its line, 0-based as Go counts; undefined when only the line is known. */
  readonly column: number | undefined;
  /** The text of the line. */
  readonly sourceLine: string;
}

/** A template that cannot be parsed or executed. */
export class TemplateError extends Error {
  readonly template: string;
  readonly line: number;
  readonly column: number | undefined;
  readonly sourceLine: string;
  /** The bare reason, without the place. */
  readonly reason: string;
  /** What Go's words leave out: what is missing, what could have been meant. Undefined where they say it all. */
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

/** The text is no template. */
export class TemplateParseError extends TemplateError {}

/** The template is fine, but not with these values. */
export class TemplateExecutionError extends TemplateError {}

/** The execution was stopped because it grew or took too long. */
export class TemplateLimitExceeded extends TemplateExecutionError {}

/** A function complains about its arguments; the evaluator adds the place. */
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
