/**
 * Fields of new objects that the API server assigns, with other values in each dry run: comparing them would find
 * differences between equal plans. Pure.
 */
import { copy } from '../../../lib/json.ts';
import { isObject, ownField, table } from '../../../lib/objects.ts';

/** By kind; `*` stands for all elements of a list. */
const ASSIGNED: Readonly<Record<string, readonly (readonly string[])[]>> = table({
  Service: [
    ['spec', 'clusterIP'],
    ['spec', 'clusterIPs'],
    ['spec', 'healthCheckNodePort'],
    ['spec', 'ports', '*', 'nodePort'],
  ],
  Job: [
    ['metadata', 'labels', 'controller-uid'],
    ['metadata', 'labels', 'batch.kubernetes.io/controller-uid'],
    ['spec', 'selector', 'matchLabels', 'batch.kubernetes.io/controller-uid'],
    ['spec', 'template', 'metadata', 'labels', 'controller-uid'],
    ['spec', 'template', 'metadata', 'labels', 'batch.kubernetes.io/controller-uid'],
  ],
});

export function withoutAssigned(kind: string, content: unknown): unknown {
  const paths = ASSIGNED[kind];
  if (!paths || !isObject(content)) return content;
  const result = copy(content);
  for (const path of paths) remove(result, path);
  return result;
}

function remove(value: unknown, [name = '', ...rest]: readonly string[]): void {
  if (name === '*') {
    if (Array.isArray(value)) for (const element of value) remove(element, rest);
  } else if (rest.length > 0) remove(ownField(value, name), rest);
  // A headless Service has the constant None.
  else if (isObject(value) && !isConstant(value[name])) delete (value as Record<string, unknown>)[name];
}

const isConstant = (value: unknown): boolean =>
  value === 'None' || (Array.isArray(value) && value[0] === 'None');
