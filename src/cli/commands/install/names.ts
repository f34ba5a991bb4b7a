/** The names and labels of the product's objects in a cluster. */
import type { Obj, View } from '../../../runtime/types.ts';

export const NAME = 'espalier';
export const WEBHOOKS_NAME = 'espalier-webhooks';

/** Field manager of the installed objects. */
export const MANAGER = 'espalier-install';

export const DEPLOYERS_NAME = 'espalier-deployers';

/** `deployers` only if they have a Deployment of their own. */
export type Component = 'controllers' | 'deployers' | 'webhooks' | 'console';

const MANAGED_BY = 'app.kubernetes.io/managed-by';
const PRODUCT = 'app.kubernetes.io/name';
const COMPONENT = 'app.kubernetes.io/component';

/** Pod selector of a component; immutable in a Deployment. */
export const selectorOf = (component: Component): Readonly<Record<string, string>> => ({
  [PRODUCT]: NAME,
  [COMPONENT]: component,
});

/** Labels of every installed object, except for the namespace and the CustomResourceDefinitions. */
export const labelsOf = (component: Component): Readonly<Record<string, string>> => ({
  ...selectorOf(component),
  [MANAGED_BY]: MANAGER,
});

export const isOf = (component: Component, { metadata }: View<Obj>): boolean =>
  metadata.labels?.[COMPONENT] === component;

export const isOurs = ({ metadata }: View<Obj>): boolean => metadata.labels?.[MANAGED_BY] === MANAGER;

/** Whether the object is from our chart, but was not created by `espalier install`. */
export const isFromHelm = ({ metadata: { labels } }: View<Obj>): boolean =>
  labels?.[MANAGED_BY] === 'Helm' && labels[PRODUCT] === NAME;

/** A label selector as a query parameter. */
export const selectorText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** `Deployment ls-system/espalier` */
export const wordsFor = ({ kind, metadata: { namespace, name } }: View<Obj>): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
