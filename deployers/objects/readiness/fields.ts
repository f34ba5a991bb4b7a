/** Reads fields of objects whose shape is not validated. */
import { cutEnd } from '../../../src/lib/cut.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';
import { notReady, ready, type Verdict } from './verdict.ts';

export const fieldAt = (object: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(ownField, object);

/** The number at the path, or `otherwise`. */
export function numberAt(object: unknown, path: readonly string[], otherwise = 0): number {
  const value = fieldAt(object, ...path);
  return typeof value === 'number' ? value : otherwise;
}

/** Whether the controller of the object has observed its current generation. */
export function observed(object: unknown): Verdict {
  const generation = numberAt(object, ['metadata', 'generation']);
  const seen = numberAt(object, ['status', 'observedGeneration']);
  return seen >= generation
    ? ready
    : notReady(`observed generation outdated (${String(seen)}/${String(generation)})`);
}

export interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** The generation that it describes; undefined if the controller does not say so. */
  readonly observedGeneration?: number;
}

export function conditionOf(object: unknown, type: string): ObjectCondition | undefined {
  const list = fieldAt(object, 'status', 'conditions');
  if (!Array.isArray(list)) return undefined;
  const found: unknown = list.find((c) => isObject(c) && c['type'] === type);
  if (!isObject(found)) return undefined;
  const text = (key: string): string => (typeof found[key] === 'string' ? found[key] : '');
  const seen = found['observedGeneration'];
  return {
    type,
    status: text('status'),
    reason: text('reason'),
    message: text('message'),
    ...(typeof seen === 'number' && { observedGeneration: seen }),
  };
}

export const isTrue = (condition: ObjectCondition | undefined): boolean => condition?.status === 'True';

/** Maximum length of a message that a controller of the target has written. */
const MAX_MESSAGE = 500;

/** `Reason: message`, in one line. */
export function messageIn({ reason, message }: ObjectCondition): string {
  const parts = [reason, message].filter((part) => part !== '');
  const text = parts.join(': ').replaceAll(/\s+/g, ' ').trim();
  return text.length > MAX_MESSAGE ? `${cutEnd(text, MAX_MESSAGE)}…` : text;
}

export const badCondition = (condition: ObjectCondition, expected: string): Verdict =>
  notReady(
    `condition "${condition.type}" has invalid status ${condition.status} (expected ${expected}) due to ${condition.reason}: ${condition.message}`,
  );
