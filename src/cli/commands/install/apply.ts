/** Applies the objects of the product to a cluster, and reports the result for each. */
import { loadCrds } from '../../../api/crds.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ensureCrds } from '../../../landscape/ensure-crds.ts';
import type { Rng } from '../../../lib/rng.ts';
import { silentLogger } from '../../../observability/log.ts';
import { keyOf } from '../../../runtime/keys.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Kind, Obj, View } from '../../../runtime/types.ts';
import { CommandError } from '../../errors.ts';
import { changedFields } from './changes.ts';
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
  kindOf,
  namespaceKind,
  networkPolicyKind,
  prometheusRuleKind,
  roleBindingKind,
  roleKind,
  serviceKind,
  serviceMonitorKind,
} from './kinds.ts';
import { listAll } from './listing.ts';
import { deleteIfThere, withRetries } from './retries.ts';
import {
  isFromHelm,
  isOf,
  isOurs,
  labelsOf,
  MANAGER,
  NAME,
  selectorOf,
  selectorText,
  type Component,
  WEBHOOKS_NAME,
  wordsFor,
} from './names.ts';
import { removeDeployers } from './removal.ts';
import { productObjects } from './objects.ts';
import type { InstallSettings } from './settings.ts';
import { selfCommand } from '../../self-command.ts';

export type Outcome = 'created' | 'changed' | 'unchanged' | 'removed';

/** Receives the result for an object. */
type ReportOutcome = (outcome: Outcome, what: string, fields?: readonly string[]) => void;

interface ApplyPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly report: ReportOutcome;
  /** Random source for the pauses between retries. Default: the system's. */
  readonly rng?: Rng;
}

/**
 * Can be repeated: objects that are up to date are not written.
 * @throws CommandError before the first write if an object of the same name has another owner; if an object cannot
 * be written after several attempts; CrdsNotApplied; CrdsNotServed; the errors of runtime/errors.ts
 */
export async function applyProduct(settings: InstallSettings, ports: ApplyPorts): Promise<void> {
  const { client, report } = ports;
  const removed = (what: string): void => {
    report('removed', what);
  };
  const wanted = productObjects(settings);
  await checkHome(client, settings.namespace);
  await checkForeignKinds(client, wanted);
  const present = await Promise.all(
    wanted.map((object) => getIfThere(client, kindOf(object), keyOf(object))),
  );
  const foreign = present.find((object) => object && object.kind !== namespaceKind.kind && !isOurs(object));
  if (foreign) {
    throw new CommandError(
      isFromHelm(foreign)
        ? `${wordsFor(foreign)} was installed with the Helm chart; update it with the tool that installed it, such as helm upgrade`
        : `${wordsFor(foreign)} already exists and was not created by "espalier install"; rename or delete it, or choose another namespace with -n`,
    );
  }
  if (settings.crds) await applyCrds(ports);
  const hasDeployers = wanted.some((object) => isOf('deployers', object));
  // Before the Deployment that runs them from now on is changed: two deployers would handle the same items.
  if (!hasDeployers) await removeDeployers({ ...ports, namespace: settings.namespace, removed });
  for (const [i, object] of wanted.entries()) await applyOne(object, present[i], ports);
  await removeStale('controllers', wanted, ports);
  if (hasDeployers) await removeStale('deployers', wanted, ports);
  // Webhooks that this call does not mention stay as they are.
  if (settings.webhooks) await removeStale('webhooks', wanted, ports);
  if (settings.console) await removeStale('console', wanted, ports);
}

/** A cluster can have one installation of the product; two would compete. @throws CommandError */
export async function checkHome(client: Client, namespace: string): Promise<void> {
  // An installation for some namespaces may have no permissions in the cluster, but it has some in its namespace.
  const labels = selectorText(selectorOf('controllers'));
  const binding =
    (await getIfThere(client, clusterRoleBindingKind, NAME)) ??
    (await listAll(client, roleBindingKind, { labels })).at(0);
  const home =
    binding && (isOurs(binding) || isFromHelm(binding)) ? binding.subjects?.[0]?.namespace : undefined;
  if (home === undefined || home === namespace) return;
  if (isFromHelm(binding as Obj)) {
    throw new CommandError(
      `Espalier is installed with the Helm chart in namespace ${home}; update or remove it with the tool that installed it, such as helm`,
    );
  }
  throw new CommandError(
    `Espalier is installed in namespace ${home}; update it with -n ${home}, ` +
      `or remove it first with: ${selfCommand()} uninstall -n ${home}`,
  );
}

/** Kinds of other products, each with the product and the value that makes the chart create such objects. */
const foreignKinds = [
  [serviceMonitorKind, 'the Prometheus Operator', 'serviceMonitor.enabled to false'],
  [prometheusRuleKind, 'the Prometheus Operator', 'prometheusRule.enabled to false'],
  [issuerKind, 'cert-manager', 'webhooks.certificates.source to self or secret'],
  [certificateKind, 'cert-manager', 'webhooks.certificates.source to self or secret'],
] as const;

/** @throws CommandError if an object of another product is requested and the cluster does not know its kind */
async function checkForeignKinds(client: Client, wanted: readonly Obj[]): Promise<void> {
  for (const [{ group, plural, kind }, product, value] of foreignKinds) {
    if (!wanted.some((object) => object.kind === kind)) continue;
    if (await getIfThere(client, crdKind, `${plural}.${group}`)) continue;
    throw new CommandError(`the cluster does not know ${kind}s; install ${product}, or set ${value}`);
  }
}

async function applyCrds({ client, clock, report, rng }: ApplyPorts): Promise<void> {
  const names = loadCrds().map(({ metadata }) => metadata.name);
  const read = (): Promise<readonly (Obj | undefined)[]> =>
    Promise.all(names.map((name) => getIfThere(client, crdKind, name)));
  const before = await read();
  await ensureCrds(client, clock, silentLogger, { ...(rng && { rng }), hasJournal: true });
  const after = await read();
  const outcomes = names.map((name, i) => ({ name, ...outcomeOf(before[i], after[i]) }));
  for (const outcome of ['created', 'changed', 'unchanged'] as const) {
    const those = outcomes.filter((each) => each.outcome === outcome);
    const [first] = those;
    if (!first) continue;
    const kind = crdKind.kind;
    report(outcome, those.length === 1 ? `${kind} ${first.name}` : `${String(those.length)} ${kind}s`);
  }
}

async function applyOne(object: Obj, before: Obj | undefined, ports: ApplyPorts): Promise<void> {
  const { client, report } = ports;
  const kind = kindOf(object);
  // An existing namespace is not changed.
  const keepsExisting = before && kind === namespaceKind;
  const after = keepsExisting
    ? before
    : await withRetries(`apply ${wordsFor(object)}`, ports, () =>
        client.send({ verb: 'apply', kind, object, manager: MANAGER, force: true }),
      );
  const { outcome, fields } = outcomeOf(before, after);
  report(outcome, wordsFor(object), fields);
}

function outcomeOf(
  before: View<Obj> | undefined,
  after: View<Obj> | undefined,
): { readonly outcome: Outcome; readonly fields: readonly string[] } {
  if (!before || !after) return { outcome: 'created', fields: [] };
  const fields = changedFields(before, after);
  return { outcome: fields.length > 0 ? 'changed' : 'unchanged', fields };
}

const rightsKinds = [roleBindingKind, roleKind, clusterRoleBindingKind, clusterRoleKind] as readonly Kind[];

/** Kinds of objects that exist only for some values. */
const optionalKinds: readonly Kind[] = [
  configurationKind,
  ...rightsKinds,
  configMapKind,
  disruptionBudgetKind,
  networkPolicyKind,
  serviceMonitorKind,
  prometheusRuleKind,
  serviceKind,
  certificateKind,
  issuerKind,
];

/** Deletes objects of an earlier call that this call does not need. */
async function removeStale(component: Component, wanted: readonly Obj[], ports: ApplyPorts): Promise<void> {
  const { client, report } = ports;
  const names = new Set(wanted.map(wordsFor));
  const labels = selectorText(labelsOf(component));
  // Without own rights among the wanted objects, an administrator has written them.
  const hasRights = wanted.some(({ kind }) => kind === clusterRoleKind.kind || kind === roleKind.kind);
  for (const kind of optionalKinds.filter((one) => hasRights || !rightsKinds.includes(one))) {
    for (const object of await listAll(client, kind, { labels })) {
      const what = wordsFor({ ...object, kind: kind.kind });
      if (names.has(what)) continue;
      await deleteIfThere({ verb: 'delete', kind, key: keyOf(object) }, ports);
      report('removed', what);
    }
  }
}

/** Whether an earlier call has installed webhooks. */
export const hasWebhooks = async (client: Client, namespace: string): Promise<boolean> =>
  (await getIfThere(client, deploymentKind, `${namespace}/${WEBHOOKS_NAME}`)) !== undefined;
