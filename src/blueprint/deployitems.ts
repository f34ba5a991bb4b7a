/** Deploy executions: from templates to the deploy item templates of the Execution. */
import type { z } from 'zod';
import {
  deployExecutionResult,
  type deployItemSpecification,
  type TemplateExecutor,
} from '../api/blueprint.ts';
import { decode, lengthOf } from '../api/decode.ts';
import { unpackedBytes, type DeployItemTemplate } from '../api/kinds/execution.ts';
import { defaultLimits, wayOut, type InstallationLimits } from '../api/limits.ts';
import { templateProblems } from '../api/validation/execution.ts';
import { aggregate } from '../api/validation/fields.ts';
import { closest } from '../lib/closest.ts';
import { formatDuration, isDuration, parseDuration } from '../lib/duration.ts';
import { append } from '../lib/lists.ts';
import { present, type View } from '../lib/objects.ts';
import { DeployItemsInvalid, TemplateFailed } from './errors.ts';
import { noteUnknownFields, runExecution, unreadableResult, type RenderContext } from './render.ts';

interface Named {
  readonly metadata: { readonly name: string };
}

/** The target objects behind the imports of the installation, as the parent's context knows them. */
export interface TargetObjects {
  readonly namespace: string;
  readonly targets: ReadonlyMap<string, Named>;
  readonly targetLists: ReadonlyMap<string, readonly Named[]>;
  readonly targetMaps: ReadonlyMap<string, Readonly<Record<string, Named>>>;
}

/**
 * Renders and checks all deploy items of the blueprint, in the order of its executions.
 * @throws TemplateFailed (code ERR_FOR_INFO_ONLY, as upstream), DeployItemsInvalid
 */
export async function renderDeployItems(
  context: RenderContext,
  targets: TargetObjects,
): Promise<readonly DeployItemTemplate[]> {
  const { limits = defaultLimits } = context;
  const items: DeployItemTemplate[] = [];
  for (const executor of context.blueprint.info.deployExecutions ?? []) {
    const output = await runOrExplain(context, executor);
    checkNumber(items.length + lengthOf(output, 'deployItems'), executor, limits);
    append(items, deployItemsFrom(output, targets, executor));
    noteUnknownFields(context, deployExecutionResult, output, 'deploy', executor);
  }
  checkDeployItems(items);
  await checkSize(items, limits);
  return items;
}

/** Checked before any of them is read, because reading each one takes time and memory. */
function checkNumber(
  count: number,
  { name = '' }: View<TemplateExecutor>,
  { deployItems: limit }: InstallationLimits,
): void {
  if (count <= limit) return;
  throw new DeployItemsInvalid(
    `error validating deployitem templates: with deploy execution "${name}" the blueprint has ${count} deploy items; ` +
      `the limit is ${limit} for one installation: ${wayOut('deployItems')}`,
  );
}

/** A larger execution could not be read again. */
async function checkSize(
  items: readonly DeployItemTemplate[],
  { deployItemsMiB: limit }: InstallationLimits,
): Promise<void> {
  const bytes = await unpackedBytes(items);
  if (bytes <= limit << 20) return;
  throw new DeployItemsInvalid(
    `error validating deployitem templates: the deploy items of the blueprint have ${bytes} bytes as JSON; ` +
      `the limit is ${limit} MiB for one installation: ${wayOut('deployItemsMiB')}`,
  );
}

/** Like upstream: only failures of deploy executions are marked as information. */
const asRendering = (failure: TemplateFailed): TemplateFailed =>
  new TemplateFailed(`Op: RenderDeployItemTemplates - Reason: Template - Message: ${failure.message}`, {
    cause: failure,
    codes: ['ERR_FOR_INFO_ONLY'],
  });

async function runOrExplain(context: RenderContext, executor: View<TemplateExecutor>): Promise<unknown> {
  try {
    return await runExecution(context, executor, { kind: 'deploy' });
  } catch (error) {
    throw error instanceof TemplateFailed ? asRendering(error) : error;
  }
}

/** Reads the result of one execution. @throws TemplateFailed, DeployItemsInvalid */
export function deployItemsFrom(
  output: unknown,
  targets: TargetObjects,
  execution: View<TemplateExecutor>,
): readonly DeployItemTemplate[] {
  try {
    const specifications = decode(deployExecutionResult, output).deployItems ?? [];
    return specifications.map((one, i) => deployItemFrom(one, `deployItems[${i}]`, targets));
  } catch (error) {
    if (error instanceof DeployItemsInvalid) throw error;
    throw asRendering(unreadableResult('deploy', execution, error));
  }
}

type Specification = z.infer<typeof deployItemSpecification>;

function deployItemFrom(
  { target, config = {}, updateOnChangeOnly, timeout, ...rest }: Specification,
  path: string,
  targets: TargetObjects,
): DeployItemTemplate {
  return present({
    ...rest,
    config,
    target: target && { name: targetName(rest.name, target, targets), namespace: targets.namespace },
    timeout: timeout === undefined ? undefined : storedDuration(timeout, path),
    updateOnChangeOnly: updateOnChangeOnly || undefined,
  }) as DeployItemTemplate;
}

/** As upstream stores it: `1h` becomes `1h0m0s`. */
function storedDuration(text: string, path: string): string {
  if (!isDuration(text)) throw new Error(`${path}.timeout: "${text}" is not a duration such as "10m"`);
  return formatDuration(parseDuration(text));
}

/** Name of the Target object that an item refers to. */
function targetName(
  item: string,
  { import: name = '', index, key, name: object = '' }: NonNullable<Specification['target']>,
  objects: TargetObjects,
): string {
  const fail = (why: string): never => {
    throw new DeployItemsInvalid(`invalid deployitem specification "${item}": ${why}`);
  };
  if (index !== undefined) {
    const list =
      objects.targetLists.get(name) ?? fail(`targetlist import "${name}" not found${kindOf(name, objects)}`);
    const element = index >= 0 ? list[index] : undefined;
    return (element ?? fail(`index ${index} out of bounds${elementsOf(name, list)}`)).metadata.name;
  }
  if (key !== undefined) {
    const map =
      objects.targetMaps.get(name) ?? fail(`targetmap import "${name}" not found${kindOf(name, objects)}`);
    const element = Object.hasOwn(map, key) ? map[key] : undefined;
    const known = `; known keys are ${quotedNames(Object.keys(map).sort())}`;
    return (element ?? fail(`key "${key}" not found in targetmap import "${name}"${known}`)).metadata.name;
  }
  if (name !== '') {
    return (objects.targets.get(name) ?? fail(`target import "${name}" not found${kindOf(name, objects)}`))
      .metadata.name;
  }
  return object || fail('empty target reference');
}

/** How the import can be used, or which one was probably meant. */
function kindOf(name: string, { targets, targetLists, targetMaps }: TargetObjects): string {
  const list = targetLists.get(name);
  if (list) return `: it is a list of ${count(list.length, 'target')}; select one with "index"`;
  const map = targetMaps.get(name);
  if (map)
    return `: it is a map of targets; select one with "key", which is one of ${quotedNames(Object.keys(map))}`;
  if (targets.has(name)) return ': it is a single target; omit "index" and "key"';
  const meant = closest(name, [...targets.keys(), ...targetLists.keys(), ...targetMaps.keys()]);
  return meant === undefined ? '' : `; did you mean "${meant}"?`;
}

function elementsOf(name: string, { length }: readonly Named[]): string {
  const range = length === 0 ? '' : `, from index 0 to ${String(length - 1)}`;
  return `: the targetlist import "${name}" has ${count(length, 'target')}${range}`;
}

const count = (n: number, what: string): string => `${String(n)} ${what}${n === 1 ? '' : 's'}`;

const MAX_NAMES = 10;
const quotedNames = (names: readonly string[]): string =>
  names
    .slice(0, MAX_NAMES)
    .map((name) => `"${name}"`)
    .join(', ') + (names.length > MAX_NAMES ? ', …' : '') || 'none';

// ---------------------------------------------------------------- checks

/** The rules that the executions' webhook has for the same list. @throws DeployItemsInvalid naming all violations */
export function checkDeployItems(items: readonly DeployItemTemplate[]): void {
  const text = aggregate(templateProblems(items, 'deployExecutions'));
  if (text !== undefined) throw new DeployItemsInvalid(`error validating deployitem templates: ${text}`);
}
