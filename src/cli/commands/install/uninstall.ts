/** `espalier uninstall`: removes the product from a cluster. Installations and deployed objects stay. */
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Obj, View } from '../../../runtime/types.ts';
import { withCluster } from '../../cluster.ts';
import { CommandError, exitCodes, UsageError } from '../../errors.ts';
import { checkHome } from './apply.ts';
import { deploymentKind } from './kinds.ts';
import { leftoversIn, removeLeftover } from './leftovers.ts';
import { isFromHelm, NAME } from './names.ts';
import { removeOwnConditions, withOwnConditions } from './own-conditions.ts';
import { named, remainsIn, type Remains } from './remaining-objects.ts';
import { partsOf, removeCrds, removeParts, wordsOf, type Part, type RemovalPorts } from './removal.ts';
import type { ClusterOptions } from '../../kubeconfig.ts';
import type { LogOptions } from '../../logging.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { selfCommand } from '../../self-command.ts';

export interface UninstallOptions extends ClusterOptions, LogOptions {
  readonly namespace: string;
  readonly keepObjects?: true;
  readonly crds?: true;
  readonly yes?: true;
  readonly dryRun?: true;
}

export async function uninstall(options: UninstallOptions, terminal: Terminal): Promise<number> {
  const { namespace, keepObjects, crds, yes, dryRun } = options;
  if (keepObjects && crds) {
    throw new UsageError(
      '--keep-objects and --crds exclude each other: deleting a definition deletes its objects',
    );
  }
  return withCluster(options, terminal, async ({ client, clock }) => {
    await checkHome(client, namespace);
    await refuseHelmRelease(client, namespace);
    const remains = await remainsIn(client);
    if (!keepObjects) refuseWhileHeld(remains);
    if (crds) refuseWhileThere(remains.all);

    const removed = (what: string): void => {
      terminal.print(`removed  ${what}`);
    };
    const ports: RemovalPorts = { client, clock, namespace, removed };
    const parts = {
      console: await partsOf('console', ports),
      webhooks: await partsOf('webhooks', ports),
      controllers: await partsOf('controllers', ports),
      deployers: await partsOf('deployers', ports),
    };
    const ofItems = [...parts.controllers, ...parts.deployers];
    const leftovers = await leftoversIn(ports, ofItems);
    const all = [...parts.console, ...parts.webhooks, ...ofItems, ...leftovers];
    if (all.length === 0 && !crds) {
      terminal.print(`Espalier is not installed in namespace ${namespace}.`);
      return exitCodes.ok;
    }
    if (dryRun) {
      for (const part of all) terminal.print(`would remove  ${wordsOf(part)}`);
      if (crds) terminal.print('would remove  all CustomResourceDefinitions of Landscaper');
      if (keepObjects)
        for (const found of await withOwnConditions(client))
          terminal.print(`would remove  ${conditionsOf(found)}`);
      return exitCodes.ok;
    }
    if (!yes) await confirm(all.length, options, terminal);
    await removeParts('console', parts.console, ports);
    await removeParts('webhooks', parts.webhooks, ports);
    await removeParts('controllers', parts.controllers, ports);
    await removeParts('deployers', parts.deployers, ports);
    // At this point, no deployer runs that could create more.
    for (const part of await leftoversIn(ports, ofItems)) {
      await removeLeftover(part, ports);
      removed(wordsOf(part));
    }
    if (crds) await removeDefinitions(ports);
    if (keepObjects) {
      for (const found of await withOwnConditions(client)) {
        await removeOwnConditions(found, ports);
        removed(conditionsOf(found));
      }
    }
    for (const line of farewell(options, remains)) terminal.print(line);
    return exitCodes.ok;
  });
}

const conditionsOf = ({ kind, key }: Part): string =>
  `conditions of ${kind.kind} ${key} that Landscaper does not know`;

/** @throws CommandError if the Deployment was created from the chart by Helm, or by a tool that works like it */
async function refuseHelmRelease(client: Client, namespace: string): Promise<void> {
  const deployment = await getIfThere(client, deploymentKind, `${namespace}/${NAME}`);
  if (!deployment || !isFromHelm(deployment)) return;
  throw new CommandError(
    `Deployment ${namespace}/${NAME} was installed with the Helm chart; remove it with the tool that installed it, ` +
      `such as: helm uninstall ${NAME} -n ${namespace}`,
  );
}

function refuseWhileHeld({ held }: Remains): void {
  if (held.length === 0) return;
  throw new CommandError(
    `${named(held)} could not be deleted any more without Espalier. ` +
      'Delete the root installations (and TargetSyncs) with kubectl and wait until they are gone, which uninstalls what they have deployed; ' +
      `or delete them without uninstalling: ${selfCommand()} installations force-delete NAME; or keep everything with --keep-objects`,
  );
}

function refuseWhileThere(objects: readonly View<Obj>[]): void {
  if (objects.length === 0) return;
  throw new CommandError(
    `deleting the definitions would also delete these objects: ${named(objects)}; delete them first, or omit --crds`,
  );
}

/** Checks again, because a user may have created objects meanwhile. */
async function removeDefinitions(ports: RemovalPorts): Promise<void> {
  refuseWhileThere((await remainsIn(ports.client)).all);
  await removeCrds(ports);
}

/** @throws UsageError without a terminal, CommandError if the user does not confirm */
async function confirm(
  count: number,
  { namespace, crds }: UninstallOptions,
  terminal: Terminal,
): Promise<void> {
  const what = `${String(count)} objects of Espalier${crds ? ' and its CustomResourceDefinitions' : ''}`;
  const answer = await terminal.ask(`Removes ${what}. Type the namespace (${namespace}) to continue: `);
  if (answer === undefined)
    throw new UsageError(
      'cannot ask for confirmation without a terminal; check with --dry-run, then add --yes',
    );
  if (answer.trim() !== namespace) throw new CommandError('not confirmed, nothing was removed');
}

function farewell({ namespace, crds }: UninstallOptions, { held }: Remains): readonly string[] {
  return [
    `Espalier is removed. Kept: namespace ${namespace}${crds ? '' : ' and the CustomResourceDefinitions'}.`,
    ...(held.length > 0
      ? [
          `Kept, but no controller reconciles them: ${named(held)}. ` +
            'They can be deleted when Espalier or Landscaper runs again.',
        ]
      : []),
  ];
}
