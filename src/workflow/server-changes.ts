/**
 * Takes out of a comparison what API servers change in objects that were applied: they drop empty values, and set defaults
 * inside of lists and structures that belong to one manager as a whole. Otherwise each such object would be applied again
 * after each restart. Pure.
 *
 * *Guarantees*: a value that the author adds, changes or removes is still a difference, unless it is what the server assumes
 * without it.
 */
import { equal } from '../lib/json.ts';
import { isObject, ownField, type Fields } from '../lib/objects.ts';
import { isBuiltIn } from '../runtime/built-in.ts';
import { groupOf } from '../runtime/keys.ts';

/** Defaults inside of values that are owned as a whole, by the end of their path. */
const DEFAULTS: readonly { readonly at: RegExp; readonly fields: Readonly<Fields> }[] = [
  {
    at: /^StatefulSet\.spec\.volumeClaimTemplates\[\]$/,
    fields: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } },
  },
  { at: /^StatefulSet\.spec\.volumeClaimTemplates\[\]\.spec$/, fields: { volumeMode: 'Filesystem' } },
  { at: /^NetworkPolicy\.spec\.(in|e)gress\[\]\.ports\[\]$/, fields: { protocol: 'TCP' } },
  { at: /^Endpoints\.subsets\[\]\.ports\[\]$/, fields: { protocol: 'TCP' } },
  { at: /^EndpointSlice\.ports\[\]$/, fields: { protocol: 'TCP', name: '' } },
  {
    at: /^(Cluster)?RoleBinding\.(subjects\[\]|roleRef)$/,
    fields: { apiGroup: 'rbac.authorization.k8s.io' },
  },
  { at: /\.rules\[\]$|\.(exclude)?[rR]esourceRules\[\]$/, fields: { scope: '*' } },
  {
    at: /AdmissionPolicy\.spec\.matchConstraints$/,
    fields: { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' },
  },
  { at: /\.podFailurePolicy\.rules\[\]\.onPodConditions\[\]$/, fields: { status: 'True' } },
  { at: /\.fieldRef$/, fields: { apiVersion: 'v1' } },
  { at: /\.resourceFieldRef$/, fields: { divisor: '0' } },
  { at: /\.serviceAccountToken$/, fields: { expirationSeconds: 3600 } },
];

/** Maps of strings, which are dropped if they are empty. An empty structure is kept, because it may have a meaning. */
const STRING_MAPS: ReadonlySet<string> = new Set(['annotations', 'labels', 'matchLabels', 'nodeSelector']);

/** What a manager has applied, and what it wants to apply. */
export interface Compared {
  readonly mine: unknown;
  readonly intent: unknown;
}

/** Where in the object a comparison is. */
interface Place {
  readonly path: string;
  readonly isBuiltIn: boolean;
  /** Inside of a value that is owned as a whole. */
  readonly isWhole: boolean;
  readonly wholes: ReadonlySet<unknown>;
}

/**
 * @param mine with undefined for fields that are owned and do not exist
 * @param wholes the values in `mine` that are owned as a whole
 */
export function withoutServerChanges(
  { mine, intent }: Compared,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  wholes: ReadonlySet<unknown>,
): Compared {
  return adapted(mine, intent, {
    path: kind,
    isBuiltIn: isBuiltIn(groupOf(apiVersion)),
    isWhole: false,
    wholes,
  });
}

function adapted(mine: unknown, intent: unknown, place: Place): Compared {
  const inside = { ...place, isWhole: place.isWhole || place.wholes.has(mine) };
  if (Array.isArray(mine) && Array.isArray(intent)) {
    if (mine.length !== intent.length) return { mine, intent };
    const pairs = mine.map((each, i) => adapted(each, intent[i], { ...inside, path: `${place.path}[]` }));
    return { mine: pairs.map((pair) => pair.mine), intent: pairs.map((pair) => pair.intent) };
  }
  return isObject(mine) && isObject(intent) ? adaptedFields(mine, intent, inside) : { mine, intent };
}

function adaptedFields(mine: Fields, intent: Fields, place: Place): Compared {
  const had: [string, unknown][] = [];
  const wanted: [string, unknown][] = [];
  for (const name of new Set([...Object.keys(mine), ...Object.keys(intent)])) {
    const [before, after] = [ownField(mine, name), ownField(intent, name)];
    if (before === undefined && isDropped(name, after, Object.hasOwn(mine, name), place)) continue;
    if (after === undefined && place.isWhole && isDefault(name, mine, place.path)) continue;
    if (isEmptyMap(name, after) && place.wholes.has(before)) continue;
    const pair = adapted(before, after, { ...place, path: `${place.path}.${name}` });
    if (before !== undefined) had.push([name, pair.mine]);
    if (after !== undefined) wanted.push([name, pair.intent]);
  }
  return { mine: Object.fromEntries(had), intent: Object.fromEntries(wanted) };
}

/** Whether a field does not exist because the server drops its value. */
function isDropped(name: string, wanted: unknown, isOwned: boolean, place: Place): boolean {
  if (isOwned) return wanted === undefined || isEmpty(wanted);
  if (!place.isBuiltIn || !isEmpty(wanted)) return false;
  // Lists whose elements have keys are owned by their elements, so nothing shows that an empty one was applied.
  if (Array.isArray(wanted)) return true;
  return place.isWhole && (wanted === '' || STRING_MAPS.has(name));
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.values(value).every(isEmpty);
  return value === '' || value === false || value === 0 || value === null || value === undefined;
}

/** An empty map of labels is owned as a whole, although others may add to it. */
const isEmptyMap = (name: string, wanted: unknown): boolean =>
  (name === 'labels' || name === 'annotations') && isObject(wanted) && Object.keys(wanted).length === 0;

function isDefault(name: string, mine: Fields, path: string): boolean {
  const value = mine[name];
  if (path === 'LimitRange.spec.limits[]') return isDerivedLimit(name, value, mine);
  return DEFAULTS.some(
    ({ at, fields }) => Object.hasOwn(fields, name) && at.test(path) && equal(fields[name], value),
  );
}

/** The server derives missing defaults of a limit from the others: the default from the maximum, the request from either. */
function isDerivedLimit(name: string, value: unknown, { max, min, default: limit }: Fields): boolean {
  const sources = { default: [max], defaultRequest: [limit, max, min] }[name];
  if (!sources || !isObject(value)) return false;
  return Object.entries(value).every(([resource, each]) =>
    sources.some((source) => ownField(source, resource) === each),
  );
}
