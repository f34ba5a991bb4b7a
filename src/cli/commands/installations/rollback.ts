/**
 * `espalier installations rollback`: restores the spec of a recorded job and starts a job with it. Records contain
 * no imported values, so the command first shows what it cannot restore.
 */
import { withNamed } from '../../named-objects.ts';
import { table } from '../../../lib/objects.ts';
import { isBeingDeleted, isFinished, isRoot, isSuspended } from '../../../api/job.ts';
import type { InstallationSpec } from '../../../api/kinds/installation.ts';
import type { JobRecordSpec, RecordedImport } from '../../../api/kinds/jobrecord.ts';
import { annotations, operations } from '../../../api/labels.ts';
import { dataObjectKind, installationKind, targetKind } from '../../../api/landscaper-kinds.ts';
import { ConfigMap, Secret } from '../../../runtime/core-kinds.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Kind, View } from '../../../runtime/types.ts';
import type { Cluster, NamespacedOptions } from '../../cluster.ts';
import { moveToApply } from '../../field-managers.ts';
import { CommandError, exitCodes, UsageError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { changeLines } from '../jobs/diff.ts';
import { jobOf, specIn } from '../jobs/read.ts';
import { diffOf } from '../plan/diff.ts';
import { find, timeoutOf, waitForJob } from './operation.ts';
import { selfCommand } from '../../self-command.ts';

export interface RollbackOptions extends NamespacedOptions {
  readonly to: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly wait?: true;
  readonly timeout?: string;
}

export async function rollback(
  printed: string,
  options: RollbackOptions,
  terminal: Terminal,
): Promise<number> {
  const timeoutMs = timeoutOf(options.timeout ?? '30m');
  return withNamed(printed, options, terminal, async (cluster, name) => {
    const before = await find(cluster, name);
    if (!isRoot(before.metadata))
      throw new CommandError(`installation ${name} is not a root; only roots can be rolled back`);
    if (isBeingDeleted(before.metadata)) throw new CommandError(`installation ${name} is being deleted`);
    if (!isFinished(before))
      throw new CommandError(
        `a job of installation ${name} is running; wait for its end, or end it with: ${selfCommand()} installations interrupt ${name} -n ${cluster.namespace}`,
      );
    const { spec: record } = await jobOf(cluster, name, options.to);
    const spec = specIn(record);
    const changes = diffOf(before.spec, spec, 'spec');
    const job = `job ${String(record.number)}`;
    if (changes.length === 0) {
      terminal.print(`The spec of ${name} is already that of ${job}; nothing was changed`);
      return exitCodes.ok;
    }
    for (const line of changeLines(`Changes that restore ${job}`, changes).slice(1)) terminal.print(line);
    const limits = await limitsOf(record, spec, cluster);
    if (limits.length > 0) terminal.print('\nNot restored:');
    for (const line of limits) terminal.print(`  ! ${line}`);
    if (options.dryRun) return exitCodes.ok;
    if (!options.yes) await confirm(name, terminal);
    const { metadata } = before;
    const request = { [annotations.operation]: operations.reconcile };
    await cluster.client.send({
      verb: 'replace',
      kind: installationKind,
      object: {
        ...before,
        metadata: { ...metadata, annotations: { ...metadata.annotations, ...request } },
        spec,
      },
    });
    await moveToApply(cluster.client, installationKind, `${cluster.namespace}/${name}`);
    terminal.print(`The spec of ${job} was written to ${name}, and a job was requested`);
    if (isSuspended(metadata))
      terminal.warn(
        `${name} is suspended; the job starts when the annotation ${annotations.suspended} is removed`,
      );
    else if (options.wait) return waitForJob(cluster, terminal, { name, before, timeoutMs });
    return exitCodes.ok;
  });
}

/** @throws UsageError without a terminal, CommandError if the user does not confirm */
async function confirm(name: string, terminal: Terminal): Promise<void> {
  const answer = await terminal.ask('\nType the name of the installation to continue: ');
  if (answer === undefined)
    throw new UsageError(
      'cannot ask for confirmation without a terminal; check with --dry-run, then add --yes',
    );
  if (answer.trim() !== name) throw new CommandError('not confirmed, nothing was changed');
}

const kinds: Readonly<Record<string, Kind>> = table({
  DataObject: dataObjectKind,
  Target: targetKind,
  Secret: Secret,
  ConfigMap: ConfigMap,
});

/** What differs from the job although its spec is restored. */
async function limitsOf(
  record: View<JobRecordSpec>,
  spec: InstallationSpec,
  cluster: Pick<Cluster, 'client' | 'namespace'>,
): Promise<readonly string[]> {
  const imports = await Promise.all((record.imports ?? []).map((one) => importLimit(one, cluster)));
  const ref = spec.componentDescriptor?.ref;
  return [
    ...(record.result === 'Succeeded'
      ? []
      : [`job ${String(record.number)} itself ended in ${record.result}`]),
    ...imports.filter((line) => line !== undefined),
    ...(ref
      ? [
          `component ${ref.componentName} ${ref.version} is read again from its repository; the job fails if it is gone`,
        ]
      : []),
  ];
}

async function importLimit(
  { name, kind, object, version }: View<RecordedImport>,
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
): Promise<string | undefined> {
  const found = kinds[kind] && (await getIfThere(client, kinds[kind], `${namespace}/${object}`));
  if (!found) return `import ${name}: ${kind} ${object} no longer exists; the job fails without it`;
  if (version === undefined) return `import ${name}: the current values of ${kind} ${object} are used`;
  const { uid = '', generation = 0 } = found.metadata;
  return version === `${uid}/${String(generation)}`
    ? undefined
    : `import ${name}: ${kind} ${object} has changed since that job; its current value is used`;
}
