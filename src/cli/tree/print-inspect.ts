/** Prints a tree in the format of landscaper-cli, which users and scripts know. Pure. */
import { timeoutMsOf } from '../../../deployers/sdk/timeout.ts';
import { isFinalPhase, isFinished, phases } from '../../api/job.ts';
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import { formatDuration } from '../../lib/duration.ts';
import { isObject, type View } from '../../lib/objects.ts';
import { toYaml } from '../../lib/yaml.ts';
import { marksText } from './print.ts';
import type { Node } from './tree.ts';

export interface InspectFormat {
  /** With components, blueprints and types. */
  readonly isWide: boolean;
  /** With the YAML of each object. */
  readonly hasDetails: boolean;
  /** Names with their namespaces. */
  readonly hasNamespaces: boolean;
}

const MAX_COLUMNS = 120;

/** All trees, each followed by an empty line. */
export const inspectText = (roots: readonly Node[], format: InspectFormat): string =>
  roots.map((root) => `${nodeLines(root, '', '', '', format).join('\n')}\n`).join('\n');

/**
 * @param first prefix of the first line
 * @param rest prefix of the other lines of the same node
 * @param below prefix of the lines of its children
 */
function nodeLines(node: Node, first: string, rest: string, below: string, format: InspectFormat): string[] {
  const own = textOf(node, format).flatMap((line) => wrap(line, MAX_COLUMNS - rest.length));
  const lines = own.map((line, i) => (i === 0 ? first : rest) + line);
  const indent = first === '' ? '    ' : below;
  const children = node.children.flatMap((child, i) => {
    const isLast = i === node.children.length - 1;
    const next = indent + (isLast ? '    ' : '│   ');
    return nodeLines(child, indent + (isLast ? '└── ' : '├── '), next, next, format);
  });
  return [...lines, ...children];
}

function textOf(node: Node, { isWide, hasDetails, hasNamespaces }: InspectFormat): string[] {
  const name = hasNamespaces && node.kind === 'Installation' ? `${node.namespace}/${node.name}` : node.name;
  return [
    `[${iconOf(node.phase)}${node.phase}${marksText(node.marks)}] ${node.kind} ${name}`,
    ...(node.message === undefined ? [] : `${headOf(node)}: ${node.message}`.split('\n')),
    ...node.warnings.map((line) => `Warning: ${line}`),
    ...(isWide ? wideLines(node) : []),
    ...(hasDetails ? ['---', ...toYaml(node.object).trimEnd().split('\n'), '---'] : []),
  ];
}

const headOf = ({ isWait }: Node): string => (isWait ? 'Waiting' : 'Last error');

function iconOf(phase: string): string {
  if (phase === phases.Succeeded) return '✅ ';
  if (isFinalPhase(phase)) return '❌ ';
  return phase in phases && phase !== phases.CleanupOrphaned ? '🏗️ ' : '';
}

/** Breaks long lines, at a space if possible. */
function wrap(line: string, width: number): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const blank = rest.lastIndexOf(' ', width);
    const at = blank > width / 2 ? blank : width;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...lines, rest];
}

// ---------------------------------------------------------------- wide

function wideLines({ object }: Node): string[] {
  const spec = (object as { readonly spec?: unknown }).spec;
  switch (object.kind) {
    case 'Installation':
      return [`Component Descriptor: ${componentOf(spec)}`, `Blueprint: ${blueprintOf(spec)}`];
    case 'DeployItem':
      return [
        `Type: ${text(spec, 'type') ?? ''}`,
        ...configLines(at(spec, 'config')),
        ...timeLines(object as View<DeployItem>),
      ];
    default:
      return [];
  }
}

/** Until when the running job may take. */
function timeLines(item: View<DeployItem>): string[] {
  const { spec, status } = item;
  const begun = status?.transitionTimes?.initTime;
  if (!begun || isFinished(item)) return [];
  try {
    const ms = timeoutMsOf(spec.timeout);
    if (ms === Infinity) return ['Time: no limit'];
    const end = new Date(Date.parse(begun) + ms).toISOString().replace(/\.\d+/, '');
    return [`Time: until ${end}, ${formatDuration(ms)} after its job began`];
  } catch {
    return [`Time: not known, the timeout "${spec.timeout ?? ''}" cannot be read`];
  }
}

function componentOf(spec: unknown): string {
  const ref = at(spec, 'componentDescriptor', 'ref');
  if (isObject(ref)) return `${text(ref, 'componentName') ?? ''}:${text(ref, 'version') ?? ''}`;
  return at(spec, 'componentDescriptor', 'inline') === undefined ? 'none' : 'inline';
}

const blueprintOf = (spec: unknown): string => text(spec, 'blueprint', 'ref', 'resourceName') ?? 'inline';

/** The main settings of a helm or container item. */
function configLines(config: unknown): string[] {
  const chart = text(config, 'chart', 'ref') ?? text(config, 'chart', 'helmChartRepo', 'helmChartName');
  const list = (name: string): string | undefined => {
    const value = at(config, name);
    return Array.isArray(value) ? value.join(' ') : undefined;
  };
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Chart', chart],
    ['Image', text(config, 'image')],
    ['Command', list('command')],
    ['Args', list('args')],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
}

const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, field) => (isObject(inner) ? inner[field] : undefined), value);

function text(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}
