/** Brings the objects of the product into a cluster, and tells of each what became of it. */
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
  clusterRoleBindingKind,
  configMapKind,
  crdKind,
  deploymentKind,
  disruptionBudgetKind,
  kindOf,
  namespaceKind,
  roleBindingKind,
  roleKind,
} from './kinds.ts';
import { listAll } from './listing.ts';
import { deleteIfThere, patiently } from './patience.ts';
import { isOurs, labelsOf, MANAGER, NAME, selectorText, WEBHOOKS_NAME, wordsFor } from './names.ts';
import { productObjects } from './objects.ts';
import type { InstallSettings } from './settings.ts';

export type Outcome = 'created' | 'changed' | 'unchanged' | 'removed';

/** Hears what became of an object. */
type Tell = (outcome: Outcome, what: string, fields?: readonly string[]) => void;

interface ApplyPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly tell: Tell;
  /** Varies the pauses between tries. Default: chance. */
  readonly rng?: Rng;
}

/**
 * Everything may be repeated: what is as it should be is left alone.
 * @throws CommandError before anything is written, when something of these names is somebody else's;
 *   when an object cannot be written in several tries; CrdsNotApplied; CrdsNotServed; the errors of runtime/errors.ts
 */
export async function applyProduct(settings: InstallSettings, ports: ApplyPorts): Promise<void> {
  const { client } = ports;
  const wanted = productObjects(settings);
  await checkHome(client, settings.namespace);
  const present = await Promise.all(
    wanted.map((object) => getIfThere(client, kindOf(object), keyOf(object))),
  );
  const foreign = present.find((object) => object && object.kind !== namespaceKind.kind && !isOurs(object));
  if (foreign) {
    throw new CommandError(
      `${wordsFor(foreign)} already exists and was not created by "espalier install"; rename or delete it, or choose another namespace with -n`,
    );
  }
  if (settings.crds) await applyCrds(ports);
  for (const [i, object] of wanted.entries()) await applyOne(object, present[i], ports);
  await removeStale(wanted, ports);
}

/** One product for a cluster: two would work against each other. @throws CommandError */
export async function checkHome(client: Client, namespace: string): Promise<void> {
  const binding = await getIfThere(client, clusterRoleBindingKind, NAME);
  const home = binding && isOurs(binding) ? binding.subjects?.[0]?.namespace : undefined;
  if (home === undefined || home === namespace) return;
  throw new CommandError(
    `Espalier is installed in namespace ${home}; update it with -n ${home}, ` +
      `or remove it first with: espalier uninstall -n ${home}`,
  );
}

async function applyCrds({ client, clock, tell, rng }: ApplyPorts): Promise<void> {
  const names = loadCrds().map(({ metadata }) => metadata.name);
  const read = (): Promise<readonly (Obj | undefined)[]> =>
    Promise.all(names.map((name) => getIfThere(client, crdKind, name)));
  const before = await read();
  await ensureCrds(client, clock, silentLogger, { ...(rng && { rng }) });
  const after = await read();
  const outcomes = names.map((name, i) => ({ name, ...outcomeOf(before[i], after[i]) }));
  for (const outcome of ['created', 'changed', 'unchanged'] as const) {
    const those = outcomes.filter((each) => each.outcome === outcome);
    const [first] = those;
    if (!first) continue;
    const kind = crdKind.kind;
    tell(outcome, those.length === 1 ? `${kind} ${first.name}` : `${String(those.length)} ${kind}s`);
  }
}

async function applyOne(object: Obj, before: Obj | undefined, ports: ApplyPorts): Promise<void> {
  const { client, tell } = ports;
  const kind = kindOf(object);
  // A namespace that is there belongs to whoever made it.
  const isLeftAlone = before && kind === namespaceKind;
  const after = isLeftAlone
    ? before
    : await patiently(`apply ${wordsFor(object)}`, ports, () =>
        client.send({ verb: 'apply', kind, object, manager: MANAGER, force: true }),
      );
  const { outcome, fields } = outcomeOf(before, after);
  tell(outcome, wordsFor(object), fields);
}

function outcomeOf(
  before: View<Obj> | undefined,
  after: View<Obj> | undefined,
): { readonly outcome: Outcome; readonly fields: readonly string[] } {
  if (!before || !after) return { outcome: 'created', fields: [] };
  const fields = changedFields(before, after);
  return { outcome: fields.length > 0 ? 'changed' : 'unchanged', fields };
}

/** Rights, settings and budgets of an earlier call that this one does not ask for. */
async function removeStale(wanted: readonly Obj[], ports: ApplyPorts): Promise<void> {
  const { client, tell } = ports;
  const names = new Set(wanted.map(wordsFor));
  const labels = selectorText(labelsOf('controllers'));
  for (const kind of [roleBindingKind, roleKind, configMapKind, disruptionBudgetKind] as readonly Kind[]) {
    for (const object of await listAll(client, kind, { labels })) {
      const what = wordsFor({ ...object, kind: kind.kind });
      if (names.has(what)) continue;
      await deleteIfThere({ verb: 'delete', kind, key: keyOf(object) }, ports);
      tell('removed', what);
    }
  }
}

/** Whether webhooks of an earlier call are there. */
export const hasWebhooks = async (client: Client, namespace: string): Promise<boolean> =>
  (await getIfThere(client, deploymentKind, `${namespace}/${WEBHOOKS_NAME}`)) !== undefined;
