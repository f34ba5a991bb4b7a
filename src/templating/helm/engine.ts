/**
 * Executes the templates of a chart and its dependencies. They form one set: a `define` is available in all of
 * them, and if a name is defined twice, the file nearest to the root wins.
 */
import { byCodePoint } from '../../lib/gojson.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Fields } from '../../lib/objects.ts';
import { outputTooLarge, type TemplateLimits } from '../budget.ts';
import type { NamedTemplate } from '../gotemplate/env.ts';
import { TemplateExecutionError, TemplateParseError } from '../gotemplate/errors.ts';
import { byteLength, stringOf, toValidText } from '../go/go-string.ts';
import { addToSet, executeNamed, newEnv, parseTemplate } from '../gotemplate/template.ts';
import { fromJson, GoMap, type Value } from '../gotemplate/values.ts';
import { capabilitiesObject, type Capabilities } from './capabilities.ts';
import { isLibrary, pathOfDependency, type Chart } from './chart.ts';
import { ChartTemplateFailed } from './errors.ts';
import { helmFunctions, WARN_END, WARN_START, type Lookup } from './functions.ts';
import { chartObject, filesMap, releaseMap, templateMap, valuesMap, type Release } from './root.ts';

export interface World {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly limits?: Partial<TemplateLimits>;
  /** Time of `clock.now()`; default: now plus the limit. */
  readonly deadline?: number;
}

interface TemplateInput {
  /** The values including all defaults. */
  readonly values: Fields;
  readonly release: Release;
  readonly capabilities: Capabilities;
  readonly lookup: Lookup;
}

interface Page {
  readonly text: string;
  /** The root value of the template; shared by all templates of its chart. */
  readonly dot: GoMap;
  readonly basePath: string;
}

/**
 * The output of every template, keyed by path, for example `chart/templates/service.yaml`; partials are omitted.
 * @throws ChartTemplateFailed
 */
export function renderTemplates(
  chart: Chart,
  input: TemplateInput,
  world: World,
): ReadonlyMap<string, string> {
  const pages = pagesOf(chart, input);
  const names = [...pages.keys()].sort(deepestFirst);
  const functions = helmFunctions(input.lookup);
  const set = new Map<string, NamedTemplate>();
  for (const name of names) define(set, name, pages.get(name)?.text ?? '', functions);
  const env = newEnv({ ...world, functions });
  env.templates = set;
  const printed = new Map<string, string>();
  let size = 0;
  for (const name of names) {
    const page = pages.get(name);
    if (!page || isPartial(name)) continue;
    page.dot.entries.set('Template', templateMap(name, page.basePath));
    const text = executePage(name, () => executeNamed(env, name, page.dot));
    size += byteLength(text);
    if (size > env.limits.maxOutputBytes)
      throw new ChartTemplateFailed(`${name}: ${outputTooLarge(env.limits)}`);
    printed.set(name, text);
  }
  return printed;
}

export const isPartial = (path: string): boolean => path.slice(path.lastIndexOf('/') + 1).startsWith('_');

/** Helm parses and executes in this order: by depth, then by name, both descending. */
function deepestFirst(a: string, b: string): number {
  const depth = (path: string): number => path.split('/').length;
  return depth(b) - depth(a) || byCodePoint(b, a);
}

type Functions = ReturnType<typeof helmFunctions>;

function define(set: Map<string, NamedTemplate>, name: string, text: string, functions: Functions): void {
  try {
    addToSet(set, parseTemplate(name, text, functions));
  } catch (error) {
    if (!(error instanceof TemplateParseError)) throw error;
    const place = error.line > 0 ? `${error.template}:${String(error.line)}` : name;
    throw new ChartTemplateFailed(`parse error at (${place}): ${lastPart(error.message)}`, { cause: error });
  }
}

const lastPart = (message: string): string => message.split(': ').at(-1) ?? message;

function executePage(name: string, run: () => string): string {
  try {
    return toValidText(run()).replaceAll('<no value>', '');
  } catch (error) {
    if (!(error instanceof TemplateExecutionError)) throw error;
    throw new ChartTemplateFailed(shown(error.message, name), { cause: error });
  }
}

/** Only the author's message if the chart called `fail` or `required`; otherwise the complete message. */
function shown(message: string, name: string): string {
  const start = message.indexOf(WARN_START);
  const end = message.lastIndexOf(WARN_END);
  if (start < 0 || end < start) return message;
  const place = /^template: ([^ ]+): /.exec(message)?.[1] ?? name;
  return `execution error at (${place}): ${message.slice(start + WARN_START.length, end)}`;
}

// ---------------------------------------------------------------- root values

function pagesOf(chart: Chart, { values, release, capabilities }: TemplateInput): ReadonlyMap<string, Page> {
  const pages = new Map<string, Page>();
  const shared = { Release: releaseMap(release), Capabilities: capabilitiesObject(capabilities) };
  const collect = (at: Chart, path: string, own: GoMap): GoMap => {
    const subcharts = new Map<string, Value>();
    const dot = new GoMap(
      new Map<string, Value>(
        Object.entries({
          Chart: chartObject(at, at === chart),
          Files: filesMap(at.files),
          ...shared,
          Values: valuesMap(own),
          Subcharts: new GoMap(subcharts),
        }),
      ),
    );
    for (const dependency of at.dependencies) {
      const inner = own.get(dependency.metadata.name);
      const below = inner instanceof GoMap ? inner : new GoMap();
      subcharts.set(dependency.metadata.name, collect(dependency, pathOfDependency(path, dependency), below));
    }
    for (const { name, content } of at.templates) {
      if (isLibrary(at) && !isPartial(name)) continue;
      pages.set(`${path}/${name}`, { text: stringOf(content), dot, basePath: `${path}/templates` });
    }
    return dot;
  };
  const root = fromJson(values);
  collect(chart, chart.metadata.name, root instanceof GoMap ? root : new GoMap());
  return pages;
}
