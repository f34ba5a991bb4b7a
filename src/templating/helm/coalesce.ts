/**
 * How values are combined: values of a parent win over those of a subchart, maps are merged, everything else is
 * replaced, and null removes a default. There are two variants: `coalesce` drops keys that were set to null; `merge`
 * keeps the nulls, for steps that are followed by another one.
 */
import { copy, define } from '../../lib/json.ts';
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import type { Chart } from './chart.ts';
import { ValuesInvalid } from './errors.ts';

type Way = 'coalesce' | 'merge';

const GLOBAL = 'global';

/**
 * The values of a chart and all its dependencies, below the values that a user gave. The arguments are not changed.
 * @throws ValuesInvalid
 */
export const coalesceValues = (chart: Chart, given: Fields): Fields =>
  together(chart, copy(given), 'coalesce');

/** The same with nulls kept. @throws ValuesInvalid */
export const mergeValues = (chart: Chart, given: Fields): Fields => together(chart, copy(given), 'merge');

function together(chart: Chart, values: Fields, way: Way): Fields {
  addDefaults(chart, values, way);
  for (const dependency of chart.dependencies) {
    const { name } = dependency.metadata;
    const own = Object.hasOwn(values, name) ? values[name] : {};
    if (!isObject(own)) {
      throw new ValuesInvalid(
        `values of chart ${chart.metadata.name}: "${name}" is a subchart, so its values must be a map`,
      );
    }
    handGlobalsDown(own, values);
    define(values, name, together(dependency, own, way));
  }
  return values;
}

function addDefaults(chart: Chart, values: Fields, way: Way): void {
  const subcharts = new Set(chart.dependencies.map(({ metadata }) => metadata.name));
  for (const [key, fallback] of Object.entries(copy(chart.values))) {
    if (!Object.hasOwn(values, key)) define(values, key, fallback);
    else if (values[key] === null && way === 'coalesce') Reflect.deleteProperty(values, key);
    else {
      const value = values[key];
      // A subchart needs the nulls that are meant for it.
      if (isObject(value) && isObject(fallback))
        mergeTables(value, fallback, subcharts.has(key) ? 'merge' : way);
    }
  }
}

/** Global values of a chart become those of its subchart, and win over the subchart's own. */
function handGlobalsDown(into: Fields, from: Fields): void {
  const own = Object.hasOwn(into, GLOBAL) ? into[GLOBAL] : {};
  const above = Object.hasOwn(from, GLOBAL) ? from[GLOBAL] : {};
  if (!isObject(own) || !isObject(above)) return;
  for (const [key, value] of Object.entries(above)) {
    const present = ownField(own, key);
    if (!isObject(value)) {
      if (!isObject(present)) define(own, key, value);
    } else if (!Object.hasOwn(own, key)) define(own, key, { ...value });
    else if (isObject(present)) define(own, key, mergeTables({ ...value }, present, 'merge'));
  }
  define(into, GLOBAL, own);
}

/** Adds to `into` what only `from` contains. Both may be changed. */
export function mergeTables(into: Fields, from: Fields, way: Way): Fields {
  for (const [key, value] of Object.entries(into)) if (value === null) define(from, key, null);
  for (const [key, value] of Object.entries(from)) {
    const present = ownField(into, key);
    if (!Object.hasOwn(into, key)) define(into, key, value);
    else if (present === null && way === 'coalesce') Reflect.deleteProperty(into, key);
    else if (isObject(value) && isObject(present)) mergeTables(present, value, way);
  }
  return into;
}

/** The map at a dotted path; undefined if there is none. */
export function tableAt(values: Fields, path: string): Fields | undefined {
  let at: unknown = values;
  for (const step of path.split('.')) at = ownField(at, step);
  return isObject(at) ? at : undefined;
}
