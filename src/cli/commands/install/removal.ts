/**
 * Removes the product from a cluster, in an order in which no request is refused and no object is left over or
 * recreated.
 */
import { loadCrds } from '../../../api/crds.ts';
import { sleep, type Clock } from '../../../lib/clock.ts';
import { append } from '../../../lib/lists.ts';
import { ownField } from '../../../lib/objects.ts';
import { fleetLabel } from '../../../runtime/fleet/names.ts';
import { keyOf } from '../../../runtime/keys.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Kind, Obj, View } from '../../../runtime/types.ts';
import { CERTIFICATES_SECRET, CONFIGURATION_NAME } from '../../../webhooks/configuration.ts';
import { CommandError } from '../../errors.ts';
import {
  certificateKind,
  clusterRoleBindingKind,
  clusterRoleKind,
  configMapKind,
  configurationKind,
  crdKind,
  deploymentKind,
  disruptionBudgetKind,
  issuerKind,
  leaseKind,
  networkPolicyKind,
  podKind,
  prometheusRuleKind,
  roleBindingKind,
  roleKind,
  secretKind,
  serviceAccountKind,
  serviceKind,
  serviceMonitorKind,
} from './kinds.ts';
import { listAll } from './listing.ts';
import { deleteIfThere } from './retries.ts';
import {
  DEPLOYERS_NAME,
  labelsOf,
  NAME,
  selectorOf,
  selectorText,
  WEBHOOKS_NAME,
  wordsFor,
  type Component,
} from './names.ts';

export interface RemovalPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  /** Called for each deleted object. */
  readonly removed: (what: string) => void;
}

/** One object of the product. */
export interface Part {
  readonly kind: Kind;
  readonly key: string;
}

export const wordsOf = ({ kind, key }: Part): string => `${kind.kind} ${key}`;

/** Rights are deleted last, because running pods would log errors without them. */
const inNamespace: readonly Kind[] = [
  deploymentKind,
  serviceMonitorKind,
  prometheusRuleKind,
  serviceKind,
  configMapKind,
  disruptionBudgetKind,
  certificateKind,
  issuerKind,
];
const rights: readonly Kind[] = [
  ...([roleBindingKind, roleKind, clusterRoleBindingKind, clusterRoleKind] as const),
  serviceAccountKind,
] as readonly Kind[];

/** The objects of a component, in the order of their deletion. @throws the errors of runtime/errors.ts */
export async function partsOf(
  component: Component,
  { client, namespace }: Pick<RemovalPorts, 'client' | 'namespace'>,
): Promise<readonly Part[]> {
  const labels = selectorText(labelsOf(component));
  const all = async (kind: Kind, query: { namespace?: string; labels: string }): Promise<readonly Part[]> =>
    (await listAll(client, kind, { ...query, metadataOnly: true })).map((object) => ({
      kind,
      key: keyOf(object),
    }));
  const found: Part[] = [];
  if (component === 'webhooks') {
    const configuration = await getIfThere(client, configurationKind, CONFIGURATION_NAME);
    if (configuration && isOurConfiguration(configuration, namespace)) {
      found.push({ kind: configurationKind, key: CONFIGURATION_NAME });
    }
    // With certificates of another source, the chart contains the configuration.
    append(found, await all(configurationKind, { labels }));
  }
  for (const kind of inNamespace) append(found, await all(kind, { namespace, labels }));
  if (component === 'webhooks') {
    const key = `${namespace}/${CERTIFICATES_SECRET}`;
    // Without our webhooks, the certificates belong to another owner.
    if (found.length > 0 && (await getIfThere(client, secretKind, key)))
      found.push({ kind: secretKind, key });
    // Those that cert-manager has written; after their Certificates, or it would write them again.
    append(found, await all(secretKind, { namespace, labels }));
  } else if (component === 'controllers' || component === 'deployers') {
    const fleet = component === 'controllers' ? NAME : DEPLOYERS_NAME;
    append(found, await all(leaseKind, { namespace, labels: `${fleetLabel}=${fleet}` }));
  }
  // Also in the namespace for pods of container items.
  append(found, await all(networkPolicyKind, { labels }));
  for (const kind of rights) append(found, await all(kind, { labels }));
  return found;
}

/**
 * Whether a webhook configuration belongs to this installation. One with the same name may belong to Landscaper, or
 * to a server outside the cluster.
 */
function isOurConfiguration(configuration: View<Obj>, namespace: string): boolean {
  const hooks = ownField(configuration, 'webhooks');
  return (Array.isArray(hooks) ? (hooks as readonly unknown[]) : []).some((hook) => {
    const service = ownField(ownField(hook, 'clientConfig'), 'service');
    return ownField(service, 'namespace') === namespace && ownField(service, 'name') === WEBHOOKS_NAME;
  });
}

const TIMEOUT_MS = 120_000;
const POLL_MS = 500;

/**
 * Deletes the objects; after a Deployment, waits until its pods have ended.
 * @throws CommandError if the pods do not end; the errors of runtime/errors.ts
 */
export async function removeParts(
  component: Component,
  parts: readonly Part[],
  ports: RemovalPorts,
): Promise<void> {
  for (const part of parts) {
    await removePart(part, ports);
    if (part.kind === deploymentKind) await waitUntilEnded(component, ports);
  }
  if (component !== 'webhooks') return;
  // A webhook server that was stopping may have recreated its configuration.
  const again = await partsOf(component, ports);
  for (const part of again.filter(({ kind }) => kind.kind === configurationKind.kind))
    await removePart(part, ports);
}

/** Deletes the webhook configuration first, then the servers, so that the API server never calls a missing webhook. */
export const removeWebhooks = async (ports: RemovalPorts): Promise<void> =>
  removeParts('webhooks', await partsOf('webhooks', ports), ports);

/** Removes the Deployment of the deployers; the one of the controllers runs them from now on. */
export const removeDeployers = async (ports: RemovalPorts): Promise<void> =>
  removeParts('deployers', await partsOf('deployers', ports), ports);

export const removeConsole = async (ports: RemovalPorts): Promise<void> =>
  removeParts('console', await partsOf('console', ports), ports);

async function removePart(
  { kind, key }: Part,
  { removed, ...ports }: Pick<RemovalPorts, 'client' | 'clock' | 'removed'>,
): Promise<void> {
  if (await deleteIfThere({ verb: 'delete', kind, key, propagation: 'Background' }, ports))
    removed(wordsOf({ kind, key }));
}

async function waitUntilEnded(
  component: Component,
  { client, clock, namespace }: RemovalPorts,
): Promise<void> {
  const labels = selectorText(selectorOf(component));
  const deadline = clock.now() + TIMEOUT_MS;
  for (;;) {
    const pods = await listAll(client, podKind, { namespace, labels, metadataOnly: true });
    if (pods.length === 0) return;
    if (clock.now() >= deadline) {
      const names = pods.map((pod) => wordsFor({ ...pod, kind: podKind.kind })).join(', ');
      throw new CommandError(
        `${names} did not end within ${String(TIMEOUT_MS / 1000)} s; check with kubectl which finalizers block them, then run the command again`,
      );
    }
    await sleep(clock, POLL_MS);
  }
}

/** Deletes the CustomResourceDefinitions, which deletes all their objects as well. */
export async function removeCrds(ports: RemovalPorts): Promise<void> {
  for (const { metadata } of loadCrds()) await removePart({ kind: crdKind, key: metadata.name }, ports);
}
