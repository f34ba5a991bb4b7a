/** The objects of a namespace, indexed for walks along the data flow. Pure. */
import { parentInstallation } from '../../api/job.ts';
import type { DataObject } from '../../api/kinds/dataobject.ts';
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import type { Installation, TargetImport } from '../../api/kinds/installation.ts';
import type { Target } from '../../api/kinds/target.ts';
import { labels } from '../../api/labels.ts';
import { installationContext, objectName, parentContext } from '../../dataflow/scope.ts';
import type { View } from '../../lib/objects.ts';
import type { Collected } from '../tree/collect.ts';
import { titleOf } from '../tree/tree.ts';

export type Inst = View<Installation>;

/** Data and targets have separate names. */
export type Flow = 'data' | 'target';

export interface TraceObjects extends Collected {
  readonly dataObjects: readonly View<DataObject>[];
  readonly targets: readonly View<Target>[];
}

export interface Landscape {
  readonly namespace: string;
  installation(name: string): Inst | undefined;
  parentOf(installation: Inst): Inst | undefined;
  /** Sub-installations; undefined: roots. */
  childrenOf(parent: Inst | undefined): readonly Inst[];
  itemsOf(installation: Inst): readonly View<DeployItem>[];
  dataObject(name: string): View<DataObject> | undefined;
  target(name: string): View<Target> | undefined;
  /** The value of an import in the last job; undefined if there is none. */
  importedValue(installation: Inst, name: string): unknown;
  /** Object names of the targets that an import refers to, as in deploy items. */
  importedTargets(installation: Inst, name: string): ReadonlySet<string>;
  /** Names in blueprints from the root, separated by `/`. */
  pathOf(installation: Inst): string;
  itemPath(installation: Inst, item: View<DeployItem>): string;
}

export function landscapeOf(namespace: string, objects: TraceObjects): Landscape {
  const installations = byName(objects.installations);
  const dataObjects = byName(objects.dataObjects);
  const targets = byName(objects.targets);
  const parentOf = ({ metadata }: Inst): Inst | undefined =>
    installations.get(parentInstallation(metadata) ?? '');
  /** Labels are written by users too, so parents may form a circle. */
  const pathOf = (self: Inst): string => {
    const titles: string[] = [];
    const seen = new Set([self]);
    let top = self;
    for (let parent = parentOf(self); parent && !seen.has(parent); parent = parentOf(parent)) {
      titles.unshift(titleOf(top));
      seen.add(parent);
      top = parent;
    }
    return [top.metadata.name, ...titles].join('/');
  };
  return {
    namespace,
    installation: (name) => installations.get(name),
    parentOf,
    childrenOf: (parent) => objects.installations.filter((one) => parentOf(one) === parent),
    itemsOf: ({ metadata, status }) =>
      objects.deployItems.filter(
        (item) =>
          item.metadata.labels?.[labels.executionManagedBy] === (status?.executionRef?.name ?? metadata.name),
      ),
    dataObject: (name) => dataObjects.get(name),
    target: (name) => targets.get(name),
    importedValue: ({ metadata }, name) =>
      dataObjects.get(objectName(installationContext(metadata.name), name))?.data,
    importedTargets: (self, name) => {
      const context = parentContext(parentInstallation(self.metadata));
      const refs = targetRefs(self.spec.imports?.targets?.find((one) => one.name === name));
      const elements = objects.targets.filter(({ metadata: { labels: at = {} } }) => {
        return at[labels.dataContext] === context && refs.includes(at[labels.dataKey] ?? '');
      });
      return new Set([
        ...refs.map((ref) => objectName(context, ref)),
        ...elements.map(({ metadata }) => metadata.name),
      ]);
    },
    pathOf,
    itemPath: (installation, { metadata }) =>
      `${pathOf(installation)}/${metadata.labels?.[labels.executionName] ?? metadata.name}`,
  };
}

/** Names in the scope of the parent. */
export const targetRefs = (spec: View<TargetImport> | undefined): readonly string[] =>
  [
    spec?.target,
    ...(spec?.targets ?? []),
    ...Object.values(spec?.targetMap ?? {}),
    spec?.targetListRef,
    spec?.targetMapRef,
  ].filter((ref): ref is string => ref !== undefined && ref !== '');

const byName = <T extends { readonly metadata: { readonly name: string } }>(
  all: readonly T[],
): ReadonlyMap<string, T> => new Map(all.map((one) => [one.metadata.name, one]));
