/** `espalier doctor`: finds objects that are stuck or inconsistent. Only reads, except with `--fix`. */
import { loadCrds } from '../../../api/crds.ts';
import { syncObjectKind, type SyncObject } from '../../../api/kinds/syncobject.ts';
import { dataObjectKind, jobRecordKind, targetKind } from '../../../api/landscaper-kinds.ts';
import { append } from '../../../lib/lists.ts';
import { CustomResourceDefinition } from '../../../runtime/core-kinds.ts';
import { sleep } from '../../../lib/clock.ts';
import { Forbidden, NotFound } from '../../../runtime/errors.ts';
import type { Client, Kind, Obj } from '../../../runtime/types.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { checks, diagnose, type Finding } from '../../doctor/checks.ts';
import { outdatedDefinitions, type DefinitionLike } from '../../doctor/definitions.ts';
import { targetFindings } from '../../doctor/targets.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { printValue } from '../../terminal/documents.ts';
import type { ReportFormat } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { collect } from '../../tree/collect.ts';
import type { Diagnosis } from './fix.ts';
import { tryTargets } from './try-targets.ts';

export interface DoctorOptions extends NamespacedOptions {
  readonly allNamespaces?: true;
  readonly targets?: true;
  readonly output: ReportFormat;
  readonly fix?: true;
  /** With `fix`: without asking. */
  readonly yes?: true;
  /** Only these checks. */
  readonly check?: readonly string[];
}

export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  checkOptions(options);
  return withCluster(options, terminal, async (cluster) => {
    const diagnosis = await read(cluster, options, terminal);
    const { findings } = diagnosis;
    if (options.fix && findings.length > 0) {
      const { fix } = await import('./fix.ts');
      return fix(diagnosis, {
        client: cluster.client,
        terminal,
        diagnose: () => read(cluster, options, terminal),
        textOf: textOfOne,
        pause: (ms) => sleep(cluster.clock, ms),
        isConfirmed: options.yes === true,
      });
    }
    if (options.output !== 'text') terminal.print(printValue(findings, options.output));
    else terminal.print(textOf(findings));
    return findings.length > 0 ? exitCodes.failed : exitCodes.ok;
  });
}

const OTHER_CHECKS = ['outdated-definition', 'expired-credential', 'unreachable-target'];

/** @throws UsageError */
function checkOptions({ fix, yes, check, output }: DoctorOptions): void {
  const known = [...checks.map(({ name }) => name), ...OTHER_CHECKS];
  const unknown = check?.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--check ${unknown} is not a check; use one of ${known.join(', ')}`);
  if (yes && !fix) throw new UsageError('--yes has an effect only with --fix');
  if (yes && !check?.length) throw new UsageError('--yes needs --check with the name of the check to fix');
  if (fix && output !== 'text') throw new UsageError(`--fix cannot be combined with -o ${output}`);
}

async function read(cluster: Cluster, options: DoctorOptions, terminal: Terminal): Promise<Diagnosis> {
  const { client, clock } = cluster;
  const namespace = options.allNamespaces ? undefined : cluster.namespace;
  // Data and locks are read before the objects that they belong to, so that an object created meanwhile is not missing.
  const data: Obj[] = [];
  for (const kind of [dataObjectKind as Kind, targetKind as Kind])
    for await (const page of client.list(kind, {
      ...(namespace !== undefined && { namespace }),
      metadataOnly: true,
    }))
      for (const { metadata } of page.items)
        data.push({ apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata });
  const locks = await locksIn(client, namespace);
  const all = { ...(await collect(client, namespace)), data, locks, now: clock.wall() };
  const findings = [
    ...(await definitionFindings(client, terminal)),
    ...diagnose(all),
    ...(options.targets ? targetFindings(await tryTargets(cluster, namespace), clock.wall()) : []),
  ];
  const isWanted = ({ check }: Finding): boolean => options.check?.includes(check) ?? true;
  return { findings: findings.filter(isWanted), all };
}

/** Few users may list locks, and a cluster without Landscaper may lack their definition. */
async function locksIn(client: Client, namespace: string | undefined): Promise<readonly SyncObject[]> {
  const locks: SyncObject[] = [];
  try {
    for await (const page of client.list<SyncObject>(
      syncObjectKind,
      namespace === undefined ? {} : { namespace },
    ))
      append(locks, page.items);
  } catch (error) {
    if (!(error instanceof Forbidden) && !(error instanceof NotFound)) throw error;
  }
  return locks;
}

/** Users of one namespace often may not read definitions; the other checks do not need them. */
async function definitionFindings(client: Client, terminal: Terminal): Promise<readonly Finding[]> {
  const stored: DefinitionLike[] = [];
  try {
    for await (const page of client.list(CustomResourceDefinition, {})) append(stored, page.items);
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error;
    terminal.warn('definitions are not checked: you may not list CustomResourceDefinitions');
    return [];
  }
  const isRecorded = stored.some(({ metadata }) => metadata.name === JOB_RECORDS);
  return outdatedDefinitions(
    loadCrds().filter(({ metadata }) => isRecorded || metadata.name !== JOB_RECORDS),
    stored,
  );
}

/** Only exists where jobs are recorded. */
const JOB_RECORDS = `${jobRecordKind.plural}.${jobRecordKind.group}`;

const textOf = (findings: readonly Finding[]): string =>
  findings.length === 0 ? 'no problems found' : findings.map(textOfOne).join('\n\n');

const textOfOne = ({ check, object, evidence, risk, command }: Finding): string =>
  `${object}: ${check}\n  evidence: ${evidence}\n  command:  ${command}\n  risk:     ${risk}`;
