/** Names of an item's objects, and the labels by which they are found. Pure. */
import { createHash } from 'node:crypto';
import { labelValue } from '../objects/manifests/label.ts';
import { annotations, CONTAINER_GROUP, labels, type Operation } from './contract.ts';
import { trimmedEnd } from '../../src/lib/trim.ts';

/** The item that owns the objects. */
export interface ItemRef {
  readonly namespace: string;
  readonly name: string;
}

const MAX_NAME = 253;
/** The name of a pod is its host name, and the suffix needs space. */
const MAX_POD_PREFIX = 54;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A valid name: if it is too long, a hash replaces its middle. The end shows the purpose of the object. */
function fitting(name: string, end: string, max = MAX_NAME): string {
  const whole = `${name}-${end}`;
  if (whole.length <= max) return whole;
  const kept = max - end.length - 10;
  return `${name.slice(0, kept)}-${digest(name).slice(0, 8)}-${end}`;
}

interface Names {
  readonly config: string;
  readonly target: string;
  readonly export: string;
  readonly imagePull: string;
  readonly blueprintPull: string;
  readonly descriptorPull: string;
  readonly ocmConfig: string;
  /** Service account, role and role binding of a container. */
  readonly initAccount: string;
  readonly waitAccount: string;
  /** Secrets with the tokens of the service accounts. */
  readonly initToken: string;
  readonly waitToken: string;
}

export function namesOf({ namespace, name }: ItemRef): Names {
  const own = (end: string): string => fitting(`${namespace}-${name}`, end);
  return {
    config: own('config'),
    target: own('target'),
    export: own('export'),
    imagePull: own('imgpullsec'),
    blueprintPull: own('bppullsec'),
    descriptorPull: own('cdpullsec'),
    ocmConfig: own('ocmconfig'),
    initAccount: own('init'),
    waitAccount: own('wait'),
    initToken: own('init-token'),
    waitToken: own('wait-token'),
  };
}

/** The values that identify a run of the image: if any of them changes, it is another run. */
export interface RunKey {
  readonly item: ItemRef;
  readonly uid: string;
  readonly jobID: string;
  readonly generation: number;
  readonly operation: Operation;
}

export const podPrefix = ({ name }: ItemRef): string =>
  name.length <= MAX_POD_PREFIX
    ? `${name}-`
    : `${trimmedEnd(name.slice(0, 45), '.-')}-${digest(name).slice(0, 8)}-`;

/**
 * The name of the pod of a run. It looks generated but is the same for the same run, so that a deployer that
 * crashed during the creation does not create a second pod.
 */
export function podName(run: RunKey): string {
  const { item, uid, jobID, generation, operation } = run;
  const hash = digest(JSON.stringify([item.namespace, item.name, uid, jobID, generation, operation]));
  return podPrefix(item) + hash.slice(0, 8);
}

export const stateName = ({ namespace, name }: ItemRef, random: string): string =>
  fitting(`state-${namespace}-${name}`, random);

/** @param deployerId identity of the deployer that creates the object */
export const labelsOf = ({ namespace, name }: ItemRef, deployerId: string): Record<string, string> => ({
  [labels.deployerId]: labelValue(deployerId),
  [labels.name]: CONTAINER_GROUP,
  [labels.itemName]: labelValue(name),
  [labels.itemNamespace]: labelValue(namespace),
});

/** Selects all objects of an item. */
export const selectorOf = (
  { namespace, name }: ItemRef,
  more: Readonly<Record<string, string>> = {},
): string =>
  Object.entries({
    [labels.itemName]: labelValue(name),
    [labels.itemNamespace]: labelValue(namespace),
    ...more,
  })
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

interface Labelled {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
}

/** The item that an object belongs to; undefined for objects of other owners. */
export function itemOf({ metadata }: Labelled): ItemRef | undefined {
  const name = metadata.labels?.[labels.itemName];
  const namespace = metadata.labels?.[labels.itemNamespace];
  if (!name || !namespace) return undefined;
  const whole = metadata.annotations?.[annotations.item]?.split('/');
  return whole?.length === 2 && whole[0] && whole[1]
    ? { namespace: whole[0], name: whole[1] }
    : { namespace, name };
}
