/** Converts our values to the original's output format. */
import { formatGoFloat } from '../../../src/lib/go-float.ts';
import { toValidText } from '../../../src/templating/go/go-string.ts';
import { Unresolvable } from '../../../src/templating/spiff/function.ts';
import {
  isSpiffList,
  isSpiffMap,
  SpiffCallable,
  type SpiffValue,
} from '../../../src/templating/spiff/value.ts';

/** The value as JSON. @throws Unresolvable with Go's message for values that JSON cannot represent */
export function plain(value: SpiffValue): unknown {
  if (isSpiffList(value)) return value.map(plain);
  if (isSpiffMap(value)) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  if (typeof value === 'string') return toValidText(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Unresolvable(`json: unsupported value: ${formatGoFloat(value, 'g')}`);
  }
  return value instanceof SpiffCallable ? `(( ${value.text} ))` : value;
}
