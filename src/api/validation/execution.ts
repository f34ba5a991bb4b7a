/** Validates the deploy items of an execution, and those that a blueprint renders: both are the same list. */
import { MAX_FINDINGS } from '../../lib/findings.ts';
import { goJson } from '../../lib/gojson.ts';
import { isLabelValue, isQualifiedName } from '../../lib/names.ts';
import type { View } from '../../lib/objects.ts';
import type { DeployItemTemplate } from '../kinds/execution.ts';
import { duplicate, invalid, isRepeated, invalidNames, required, shown, type FieldError } from './fields.ts';

type Template = View<DeployItemTemplate>;

/** @param path of the list, `spec.deployItems` in an execution */
export function templateProblems(templates: readonly Template[], path: string): readonly FieldError[] {
  const names = new Set<string>();
  const at = (i: number): string => pathOf(templates[i]?.name ?? '', i, path);
  const problems = templates.flatMap((template, i) => [
    ...(isRepeated(names, template.name) ? [duplicate(`${path}[${i}]`, template.name)] : []),
    ...ownProblems(template, at(i)),
  ]);
  const isEachNameUnique = templates.filter(({ name }) => name !== '').length === names.size;
  return [
    ...problems,
    // If two items have the same name, dependencies are ambiguous; cycles are checked only with unique names.
    ...(isEachNameUnique
      ? cyclesOf(templates).map(
          (c) => `${path}: Invalid value: ${goJson(c.map(shown))}: cycle found in dependencies`,
        )
      : []),
    ...templates.flatMap(({ dependsOn = [] }, i) =>
      [...new Set(dependsOn)]
        .filter((name) => !names.has(name))
        .map((name) => invalid(at(i), name, 'depends on undefined deploy item')),
    ),
  ];
}

const pathOf = (name: string, index: number, root: string): string =>
  name === '' ? `${root}[${index}]` : `${root}[${index}][${shown(name)}]`;

function ownProblems({ name, type, target, labels = {} }: Template, path: string): readonly FieldError[] {
  const at = `${path}.target`;
  return [
    ...(name === '' ? [required(`${path}.name`, 'name must not be empty')] : []),
    ...(type === '' ? [required(`${path}.type`, 'type must not be empty')] : []),
    ...(target?.name === '' ? [required(`${at}.name`, 'name must not be empty')] : []),
    ...invalidNames(`${at}.name`, target?.name),
    ...invalidNames(`${at}.namespace`, target?.namespace),
    ...(target && !target.namespace ? [required(`${at}.namespace`, 'namespace must not be empty')] : []),
    ...Object.entries(labels).flatMap(([key, value]) => [
      ...isQualifiedName(key).map((why) => invalid(`${path}.labels`, key, why)),
      ...isLabelValue(value).map((why) => invalid(`${path}.labels`, value, why)),
    ]),
  ];
}

/**
 * The cycles among items that depend on each other, as lists of names, beginning with the first item in the list.
 * Each item is visited once, so if cycles share an item, not all of them are found. The number is limited to what a
 * message shows: ten thousand items can have millions of cycles, each as long as the list.
 */
function cyclesOf(templates: readonly Template[]): readonly (readonly string[])[] {
  const byName = new Map(templates.map((template) => [template.name, template]));
  const done = new Set<string>();
  const cycles: (readonly string[])[] = [];
  for (const { name } of templates) follow(name);
  return cycles;

  /** Not recursive: a chain may be as long as the list. */
  function follow(start: string): void {
    const path: { readonly name: string; readonly dependencies: Iterator<string> }[] = [];
    const position = new Map<string, number>();
    const visit = (name: string): void => {
      done.add(name);
      position.set(name, path.length);
      path.push({ name, dependencies: (byName.get(name)?.dependsOn ?? []).values() });
    };
    if (!done.has(start)) visit(start);
    for (let current = path.at(-1); current; current = path.at(-1)) {
      const step = current.dependencies.next();
      if (step.done === true) {
        path.pop();
        position.delete(current.name);
        continue;
      }
      const next = step.value;
      const first = position.get(next);
      if (first !== undefined && cycles.length > MAX_FINDINGS) continue;
      if (first !== undefined) cycles.push(path.slice(first).map(({ name }) => name));
      else if (byName.has(next) && !done.has(next)) visit(next);
    }
  }
}
