/** `espalier doctor`: finds objects that are stuck or inconsistent. Only reads, except with `--fix`. */
import { loadCrds } from '../../../api/crds.ts';
import { syncObjectKind, type SyncObject } from '../../../api/kinds/syncobject.ts';
import { dataObjectKind, jobRecordKind, targetKind } from '../../../api/landscaper-kinds.ts';
import { append } from '../../../lib/lists.ts';
import { CustomResourceDefinition, Deployment } from '../../../runtime/core-kinds.ts';
import { leaseKind } from '../../../runtime/manager/lease.ts';
import { sleep } from '../../../lib/clock.ts';
import { Forbidden, NotFound } from '../../../runtime/errors.ts';
import type { Client, Kind, Obj, Query } from '../../../runtime/types.ts';
import { withCluster, type Cluster, type NamespacedOptions } from '../../cluster.ts';
import { checks, diagnose } from '../../doctor/checks.ts';
import type { Findable, Finding } from '../../doctor/findable.ts';
import type { DefinitionLike } from '../../doctor/definitions.ts';
import { needsSecondLook, SECOND_LOOK_MS } from '../../doctor/fleets.ts';
import { targetFindings } from '../../doctor/targets.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { CONTROLLER_LABELS } from '../../names.ts';
import { nameLine, printValue } from '../../terminal/documents.ts';
import type { ReportFormat } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { collect } from '../../tree/collect.ts';
import { eventKind, type TreeEvent } from '../../tree/events.ts';
import { ANOTHER_DEPLOYER } from '../../../../deployers/sdk/rivals.ts';
import type { Diagnosis } from './fix.ts';
import { tryTargets } from './try-targets.ts';

export interface DoctorOptions extends NamespacedOptions {
  readonly allNamespaces?: true;
  readonly targets?: true;
  /** Where the controllers run. */
  readonly systemNamespace: string;
  readonly output: ReportFormat | 'name';
  readonly fix?: true;
  /** With `fix`: without asking. */
  readonly yes?: true;
  /** Only these checks. */
  readonly check?: readonly string[];
}

export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  checkOptions(options);
  return withCluster(options, terminal, async (cluster) => {
    const warned = new Set<string>();
    /** Everything may be read several times. */
    const warn = (message: string): void => {
      if (!warned.has(message)) terminal.warn(message);
      warned.add(message);
    };
    const diagnosis = await read(cluster, options, warn);
    const { findings } = diagnosis;
    if (options.fix && findings.length > 0) {
      const { fix } = await import('./fix.ts');
      return fix(diagnosis, {
        client: cluster.client,
        terminal,
        diagnose: () => read(cluster, options, warn),
        textOf: textOfOne,
        pause: (ms) => sleep(cluster.clock, ms),
        isConfirmed: options.yes === true,
      });
    }
    const { output } = options;
    if (output === 'name') for (const name of namesOf(findings)) terminal.print(name);
    else if (output === 'text') terminal.print(textOf(findings));
    else terminal.print(printValue(findings, output));
    return findings.length > 0 ? exitCodes.failed : exitCodes.ok;
  });
}

const OTHER_CHECKS = ['expired-credential', 'unreachable-target'];

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

type Warn = (message: string) => void;

async function read(cluster: Cluster, options: DoctorOptions, warn: Warn): Promise<Diagnosis> {
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
  const locks = await readIfAllowed<SyncObject>(client, syncObjectKind, {
    ...(namespace !== undefined && { namespace }),
  });
  const collected = await collect(client, namespace);
  const definitions = await definitionsOf(client, warn);
  const rivalries = await readIfAllowed<TreeEvent>(client, eventKind, {
    ...(namespace !== undefined && { namespace }),
    fields: `reason=${ANOTHER_DEPLOYER}`,
  });
  const all = await withSecondLook(cluster, options.systemNamespace, {
    ...collected,
    data,
    locks,
    ...(await processesIn(client, options.systemNamespace)),
    definitions: definitions.wanted,
    storedDefinitions: definitions.stored,
    rivalries,
    now: clock.wall(),
  });
  const findings = [
    ...diagnose(all),
    ...(options.targets ? targetFindings(await tryTargets(cluster, namespace), clock.wall()) : []),
  ];
  const isWanted = ({ check }: Finding): boolean => options.check?.includes(check) ?? true;
  return { findings: findings.filter(isWanted), all };
}

/** If the Leases do not show by themselves that replicas run, looks whether they are renewed. */
async function withSecondLook(
  { client, clock }: Cluster,
  namespace: string,
  all: Findable,
): Promise<Findable> {
  if (!needsSecondLook(all)) return all;
  await sleep(clock, SECOND_LOOK_MS);
  return { ...all, laterLeases: await readIfAllowed(client, leaseKind, { namespace }) };
}

/** What is running: few users may see it, and the checks that need it then find nothing. */
async function processesIn(
  client: Client,
  namespace: string,
): Promise<Required<Pick<Findable, 'leases' | 'controllers'>>> {
  return {
    leases: await readIfAllowed(client, leaseKind, { namespace }),
    controllers: await readIfAllowed(client, Deployment, { namespace, labels: CONTROLLER_LABELS }),
  };
}

/** None if the user may not list them, or if the cluster has no such kind. */
async function readIfAllowed<T extends Obj>(
  client: Client,
  kind: Kind<T>,
  query: Query,
): Promise<readonly T[]> {
  const found: T[] = [];
  try {
    for await (const page of client.list<T>(kind, query)) append(found, page.items);
  } catch (error) {
    if (!(error instanceof Forbidden) && !(error instanceof NotFound)) throw error;
  }
  return found;
}

interface Definitions {
  readonly wanted: readonly CustomResourceDefinition[];
  readonly stored: readonly DefinitionLike[];
}

/** Users of one namespace often may not read definitions; the other checks do not need them. */
async function definitionsOf(client: Client, warn: Warn): Promise<Definitions> {
  const stored: DefinitionLike[] = [];
  try {
    for await (const page of client.list(CustomResourceDefinition, {})) append(stored, page.items);
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error;
    warn('definitions are not checked: you may not list CustomResourceDefinitions');
    return { wanted: [], stored };
  }
  const isRecorded = stored.some(({ metadata }) => metadata.name === JOB_RECORDS);
  const ours = loadCrds() as unknown as readonly CustomResourceDefinition[];
  return { wanted: ours.filter(({ metadata }) => isRecorded || metadata.name !== JOB_RECORDS), stored };
}

/** Only exists where jobs are recorded. */
const JOB_RECORDS = `${jobRecordKind.plural}.${jobRecordKind.group}`;

const textOf = (findings: readonly Finding[]): string =>
  findings.length === 0 ? 'no problems found' : findings.map(textOfOne).join('\n\n');

const textOfOne = ({ check, object, evidence, risk, command }: Finding): string =>
  `${object}: ${check}\n  evidence: ${evidence}\n  command:  ${command}\n  risk:     ${risk}`;

/** Each object once. */
const namesOf = (findings: readonly Finding[]): readonly string[] => [
  ...new Set(findings.map(({ object }) => nameOf(object))),
];

/** @param object kind, then namespace and name */
function nameOf(object: string): string {
  const [kind = '', key = ''] = object.split(' ');
  const isDefinition = kind === CustomResourceDefinition.kind;
  const { group, version } = isDefinition ? CustomResourceDefinition : targetKind;
  const name = key.split('/').at(-1) ?? '';
  return nameLine({ apiVersion: `${group}/${version}`, kind, metadata: { name } });
}
