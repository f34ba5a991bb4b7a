/** Label selectors, to decide whether an object belongs to a cache. */
import { DefinitionError } from '../errors.ts';

type Labels = Readonly<Record<string, string>>;

type Requirement =
  | { readonly op: 'in' | 'notin'; readonly key: string; readonly values: readonly string[] }
  | { readonly op: 'exists' | 'absent'; readonly key: string };

export interface Selector {
  matches(labels: Labels | undefined): boolean;
  readonly requirements: readonly Requirement[];
}

/**
 * `a=b,c!=d,e in (x, y),f notin (z),g,!h`; the empty selector matches everything.
 * @throws DefinitionError
 * @see k8s.io/apimachinery pkg/labels Parse
 */
export function parseSelector(text: string | undefined): Selector {
  // Commas inside parentheses separate values, all others requirements.
  const parts = (text ?? '').split(/,(?![^(]*\))/).map((part) => part.trim());
  const requirements = parts.filter((part) => part !== '').map((part) => parseRequirement(part, text ?? ''));
  return {
    requirements,
    matches: (labels = {}) => requirements.every((requirement) => holds(requirement, labels)),
  };
}

/** Whether no object can match both, because they require different values of one label. */
export function areDisjoint(a: Selector, b: Selector): boolean {
  return a.requirements.some((x) =>
    b.requirements.some(
      (y) => x.op === 'in' && y.op === 'in' && x.key === y.key && !x.values.some((v) => y.values.includes(v)),
    ),
  );
}

function parseRequirement(part: string, whole: string): Requirement {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part);
  if (set) {
    const [, key = '', op, values = ''] = set;
    return { op: op as 'in' | 'notin', key, values: values.split(',').map((value) => value.trim()) };
  }
  const equality = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/.exec(part);
  if (equality) {
    const [, key = '', op, value = ''] = equality;
    return { op: op === '!=' ? 'notin' : 'in', key, values: [value] };
  }
  const presence = /^(!?)\s*([^\s=!()]+)$/.exec(part);
  if (presence) return { op: presence[1] ? 'absent' : 'exists', key: presence[2] ?? '' };
  throw new DefinitionError({ message: `"${part}" in the label selector "${whole}" is not valid` });
}

function holds(requirement: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.op) {
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'notin':
      return value === undefined || !requirement.values.includes(value);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
  }
}
