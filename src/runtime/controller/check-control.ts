/**
 * Checks what a reconciler returns before any of it takes effect. The compiler knows neither numbers nor objects that
 * other code has built: a delay of NaN or 0 would be an endless loop.
 */
import { isObject, table } from '../../lib/objects.ts';
import { isPositive, shown } from '../../lib/positive.ts';
import { checkFields, type Check } from '../check-fields.ts';
import { keyOf } from '../keys.ts';
import type { DeleteControl, ErrorControl, Obj, UpdateControl, View } from '../types.ts';

const oneOf =
  (...allowed: readonly unknown[]): Check =>
  (value) =>
    allowed.includes(value) ? undefined : `${allowed.map(shown).join(' or ')}, not ${shown(value)}`;

const delay: Check = (value) =>
  isPositive(value)
    ? undefined
    : `a positive number of milliseconds, not ${shown(value)}; leave it out to wait for the next event`;
const anything: Check = () => undefined;

const UPDATE: Readonly<Record<string, Check>> = table({
  write: oneOf('none', 'status', 'resource', 'both'),
  object: anything,
  lock: oneOf(true, false),
  strategy: oneOf('merge', 'json', 'replace', 'apply'),
  echo: oneOf('ignore', 'reconcile'),
  requeueAfterMs: delay,
});
const CLEANUP: Readonly<Record<string, Check>> = table({
  finalizer: oneOf('remove', 'keep'),
  requeueAfterMs: delay,
});
const FAILURE: Readonly<Record<string, Check>> = table({
  retry: oneOf(true, false),
  status: anything,
  requeueAfterMs: delay,
});

/** @throws TypeError that names the field and the way out */
export function checkUpdate<P extends Obj>(control: UpdateControl<P>, primary: View<P>): void {
  const fields = checkFields(control, {
    method: 'reconcile',
    checks: UPDATE,
    required: ['write'],
    wayOut: "return { write: 'none' } if there is nothing to write",
  });
  if (fields['write'] === 'none') return;
  checkObject('reconcile', 'object', fields['object'], primary);
}

/** @throws TypeError that names the field and the way out */
export function checkDelete(control: DeleteControl): void {
  const wayOut = "return { finalizer: 'remove' } if nothing is left, otherwise { finalizer: 'keep' }";
  checkFields(control, { method: 'cleanup', checks: CLEANUP, required: ['finalizer'], wayOut });
}

/** @throws TypeError that names the field and the way out */
export function checkError<P extends Obj>(control: ErrorControl<P>, primary: View<P>): void {
  if (control === 'default') return;
  const wayOut = "return 'default' for a retry";
  const fields = checkFields(control, { method: 'onError', checks: FAILURE, required: ['retry'], wayOut });
  if (fields['status'] !== undefined) checkObject('onError', 'status', fields['status'], primary);
}

/** Only the primary can be returned: an object of another name would be written over it, or not at all. */
function checkObject(method: string, field: string, object: unknown, primary: View<Obj>): void {
  const metadata = isObject(object) ? object['metadata'] : undefined;
  const key = keyOf(primary);
  if (!isObject(metadata))
    throw new TypeError(
      `${method} returned an "${field}" without metadata; return ctx.draft() with your changes`,
    );
  const found = keyOf(object as Obj);
  if (found === key) return;
  throw new TypeError(
    `${method} returned "${field}" ${shown(found)}, but the primary is ${shown(key)}; write other objects with ctx.write`,
  );
}
