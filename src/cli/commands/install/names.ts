/** What the product is called in a cluster, and how its own objects are told from those of others. */
import type { Obj, View } from '../../../runtime/types.ts';

export const NAME = 'espalier';
export const WEBHOOKS_NAME = 'espalier-webhooks';

/** Who the server notes as the writer of what is installed. */
export const MANAGER = 'espalier-install';

export type Component = 'controllers' | 'webhooks';

const MANAGED_BY = 'app.kubernetes.io/managed-by';
const COMPONENT = 'app.kubernetes.io/component';

/** Of the pods of a component; a Deployment can never change them. */
export const selectorOf = (component: Component): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': NAME,
  [COMPONENT]: component,
});

/** Of every object that is installed, the namespace and the CustomResourceDefinitions aside. */
export const labelsOf = (component: Component): Readonly<Record<string, string>> => ({
  ...selectorOf(component),
  [MANAGED_BY]: MANAGER,
});

export const isOurs = ({ metadata }: View<Obj>): boolean => metadata.labels?.[MANAGED_BY] === MANAGER;

/** A label selector, as in a query. */
export const selectorText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** `Deployment ls-system/espalier` */
export const wordsFor = ({ kind, metadata: { namespace, name } }: View<Obj>): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
