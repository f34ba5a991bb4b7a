/** What is asked of the original Spiff and what it answers, and our values in the same form. */
import { formatGoFloat } from '../../src/lib/go-float.ts';
import { toValidText } from '../../src/templating/go/go-string.ts';
import { Unresolvable } from '../../src/templating/spiff/function.ts';
import { isSpiffList, isSpiffMap, SpiffCallable, type SpiffValue } from '../../src/templating/spiff/value.ts';

export interface SpiffAnswer {
  readonly output?: string;
  readonly error?: string;
}

export interface SpiffRequest {
  readonly document: string;
  readonly bindings?: unknown;
  readonly stubs?: readonly string[];
}

/** The value as JSON holds it. @throws Unresolvable in Go's words for what JSON cannot hold */
export function plain(value: SpiffValue): unknown {
  if (isSpiffList(value)) return value.map(plain);
  if (isSpiffMap(value)) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  if (typeof value === 'string') return toValidText(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Unresolvable(`json: unsupported value: ${formatGoFloat(value, 'g')}`);
  }
  return value instanceof SpiffCallable ? `(( ${value.text} ))` : value;
}
