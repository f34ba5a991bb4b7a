/** Where an expression stands: the value in focus, those around it, and what has a name there. */
import type { Value } from '../gotemplate/values.ts';
import type { Source } from './source.ts';

/** `@key` and its like; `@../key` are those of the block around. */
interface Data {
  readonly values: ReadonlyMap<string, Value>;
  readonly outer: Data | undefined;
}

/** Something that `{{> name}}` can stand for besides a file. */
export interface Partial {
  readonly source: Source;
  readonly program: hbs.AST.Program;
  /** Where it was written; undefined for a partial that sees only where it is used. */
  readonly frame: Frame | undefined;
}

export interface Frame {
  readonly dot: Value;
  /** What `../` means. */
  readonly outer: Frame | undefined;
  readonly data: Data;
  /** Names given with `as |a b|`. */
  readonly named: ReadonlyMap<string, Value>;
  readonly partials: ReadonlyMap<string, Partial>;
}

export const rootFrame = (dot: Value): Frame => ({
  dot,
  outer: undefined,
  data: { values: new Map([['root', dot]]), outer: undefined },
  named: new Map(),
  partials: new Map(),
});

/** A frame with another value in focus; the same value makes no new level of `../`. */
export const focused = (frame: Frame, dot: Value): Frame =>
  dot === frame.dot ? frame : { ...frame, dot, outer: frame };

export const withNames = (frame: Frame, names: readonly string[] = [], values: readonly Value[]): Frame =>
  names.length === 0
    ? frame
    : { ...frame, named: new Map([...frame.named, ...names.map((name, i) => [name, values[i]] as const)]) };

export const withData = (frame: Frame, values: Readonly<Record<string, Value>>): Frame => ({
  ...frame,
  data: { values: new Map([...frame.data.values, ...Object.entries(values)]), outer: frame.data },
});
