/**
 * Transfers errors between processes: class, message, fields and cause are kept; only classes that both sides know
 * are restored.
 */

export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause: WireError | undefined;
}

type ErrorClass = abstract new (...args: never[]) => Error;

const MAX_CAUSES = 20;

export function toWire(error: unknown, depth = 0): WireError {
  if (!(error instanceof Error)) return toWire(new Error(String(error)), depth);
  const { message, stack, cause } = error;
  const isPlain = (value: unknown): boolean =>
    ['string', 'number', 'boolean', 'undefined'].includes(typeof value) ||
    (Array.isArray(value) && value.every(isPlain));
  return {
    name: error.constructor.name,
    message,
    stack,
    fields: Object.fromEntries(Object.entries(error).filter(([, value]) => isPlain(value))),
    cause: cause === undefined || depth >= MAX_CAUSES ? undefined : toWire(cause, depth + 1),
  };
}

/** @param classes that callers distinguish */
export function fromWire(wire: WireError, classes: ReadonlyMap<string, ErrorClass>): Error {
  const error = new Error(wire.message, wire.cause && { cause: fromWire(wire.cause, classes) });
  const known = classes.get(wire.name);
  if (known) Object.setPrototypeOf(error, known.prototype as object);
  else if (wire.name !== 'Error') Object.assign(error, { name: wire.name });
  // The stack of this process would not show the cause.
  Object.defineProperty(error, 'stack', { value: wire.stack, configurable: true, writable: true });
  return Object.assign(error, wire.fields);
}

export const classesOf = (...modules: readonly object[]): ReadonlyMap<string, ErrorClass> =>
  new Map(
    modules
      .flatMap((module) => Object.entries(module) as [string, unknown][])
      .filter((entry): entry is [string, ErrorClass] => isErrorClass(entry[1])),
  );

const isErrorClass = (value: unknown): value is ErrorClass =>
  typeof value === 'function' && value.prototype instanceof Error;
