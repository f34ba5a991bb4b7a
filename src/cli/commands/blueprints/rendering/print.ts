/** The rendering result as a tree. Pure. */
import type { DeployItemTemplate } from '../../../../api/kinds/execution.ts';
import type { WrittenObject } from '../../../../dataflow/objects.ts';
import { GROUP, labels } from '../../../../api/labels.ts';
import { goJson } from '../../../../lib/gojson.ts';
import { cut } from '../../../tree/print.ts';
import type { Paint } from '../../../terminal/terminal.ts';
import type { Mask } from './mask.ts';
import type { RenderedChild, RenderedInstallation } from './render-tree.ts';

interface TreeOptions {
  readonly paint: Paint;
  readonly columns: number;
  readonly mask: Mask;
}

interface Branch {
  readonly name: string;
  readonly isBold: boolean;
  readonly note: string;
  readonly below: readonly Branch[];
}

export function renderedTree(rendered: RenderedInstallation, options: TreeOptions): readonly string[] {
  const { metadata } = rendered.installation;
  const root = { name: metadata.name, isBold: true, note: '', below: branchesOf(rendered, options) };
  return linesOf(root, '', '', options);
}

function branchesOf(
  { children, items, exports, targets }: RenderedInstallation,
  options: TreeOptions,
): readonly Branch[] {
  return [
    ...children.map((child) => childBranch(child, options)),
    ...items.map((item) => itemBranch(item, targets)),
    ...(typeof exports === 'string'
      ? [{ name: 'exports', isBold: false, note: exports, below: [] }]
      : exports.map((object) => exportBranch(object, options))),
  ];
}

function childBranch({ name, object, inside }: RenderedChild, options: TreeOptions): Branch {
  const { imports, exports } = object.spec;
  const importNames = [...(imports?.data ?? []), ...(imports?.targets ?? [])].map((one) => one.name);
  const exportNames = [...(exports?.data ?? []), ...(exports?.targets ?? [])].map((one) => one.name);
  const note = [
    'sub-installation',
    ...(importNames.length > 0 ? [`imports ${importNames.join(', ')}`] : []),
    ...(exportNames.length > 0 ? [`exports ${exportNames.join(', ')}`] : []),
    ...(typeof inside === 'string' ? [inside] : []),
  ].join(' · ');
  return { name, isBold: true, note, below: typeof inside === 'string' ? [] : branchesOf(inside, options) };
}

const GROUP_PREFIX = `${GROUP}/`;

function itemBranch(
  { name, type, target, dependsOn = [] }: DeployItemTemplate,
  targets: ReadonlyMap<string, string>,
): Branch {
  const note = [
    'deploy item',
    type.startsWith(GROUP_PREFIX) ? type.slice(GROUP_PREFIX.length) : type,
    ...(target ? [`on ${targets.get(target.name) ?? target.name}`] : []),
    ...(dependsOn.length > 0 ? [`after ${dependsOn.join(', ')}`] : []),
  ].join(' · ');
  return { name, isBold: false, note, below: [] };
}

function exportBranch(object: WrittenObject, { mask }: TreeOptions): Branch {
  const name = object.metadata.labels?.[labels.dataKey] ?? object.metadata.name;
  const value =
    'spec' in object ? `target · ${object.spec.type}` : `= ${goJson(mask.value(object.data ?? null))}`;
  return { name, isBold: false, note: `export ${value}`, below: [] };
}

function linesOf(branch: Branch, lead: string, indent: string, options: TreeOptions): readonly string[] {
  const { paint, columns } = options;
  const note = cut(branch.note, Math.max(20, columns - lead.length - branch.name.length - 2));
  const name = branch.isBold ? paint.bold(branch.name) : branch.name;
  const line = `${paint.dim(lead)}${name}${note === '' ? '' : `  ${paint.dim(note)}`}`;
  const inner = branch.below.flatMap((child, i) => {
    const isLast = i === branch.below.length - 1;
    return linesOf(
      child,
      `${indent}${isLast ? '└─ ' : '├─ '}`,
      `${indent}${isLast ? '   ' : '│  '}`,
      options,
    );
  });
  return [line, ...inner];
}
