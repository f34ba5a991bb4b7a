/** The context of an expression: the current value, outer values, and names. */
import type { Value } from '../gotemplate/values.ts';
import type { Source } from './source.ts';

/** `@key` and similar variables; `@../key` are those of the outer block. */
interface Data {
  readonly values: ReadonlyMap<string, Value>;
  readonly outer: Data | undefined;
}

/** A partial that `{{> name}}` can refer to, besides a file. */
export interface Partial {
  readonly source: Source;
  readonly program: hbs.AST.Program;
  /** The frame of its definition; undefined for a partial that only sees the frame of its use. */
  readonly frame: Frame | undefined;
}

export interface Frame {
  readonly dot: Value;
  /** The frame of `../`. */
  readonly outer: Frame | undefined;
  readonly data: Data;
  /** Names from `as |a b|`. */
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

/** A frame with another current value; the same value adds no level of `../`. */
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
