/** `espalier doctor`: finds objects that are stuck or inconsistent. Only reads. */
import { loadCrds } from '../../../api/crds.ts';
import { dataObjectKind, jobRecordKind, targetKind } from '../../../api/landscaper-kinds.ts';
import { append } from '../../../lib/lists.ts';
import { CustomResourceDefinition } from '../../../runtime/core-kinds.ts';
import { Forbidden } from '../../../runtime/errors.ts';
import type { Client, Kind, Obj } from '../../../runtime/types.ts';
import { withCluster, type NamespacedOptions } from '../../cluster.ts';
import { diagnose, type Finding } from '../../doctor/checks.ts';
import { outdatedDefinitions, type DefinitionLike } from '../../doctor/definitions.ts';
import { targetFindings } from '../../doctor/targets.ts';
import { exitCodes } from '../../errors.ts';
import { printValue } from '../../terminal/documents.ts';
import type { ReportFormat } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { collect } from '../../tree/collect.ts';
import { tryTargets } from './try-targets.ts';

export interface DoctorOptions extends NamespacedOptions {
  readonly allNamespaces?: true;
  readonly targets?: true;
  readonly output: ReportFormat;
}

export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  return withCluster(options, terminal, async (cluster) => {
    const { client, clock } = cluster;
    const namespace = options.allNamespaces ? undefined : cluster.namespace;
    // Data is read before the objects that own it, so that an owner created meanwhile is not missing.
    const data: Obj[] = [];
    for (const kind of [dataObjectKind as Kind, targetKind as Kind])
      for await (const page of client.list(kind, {
        ...(namespace !== undefined && { namespace }),
        metadataOnly: true,
      }))
        for (const { metadata } of page.items)
          data.push({ apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata });
    const findings = [
      ...(await definitionFindings(client, terminal)),
      ...diagnose({ ...(await collect(client, namespace)), data, now: clock.wall() }),
      ...(options.targets ? targetFindings(await tryTargets(cluster, namespace), clock.wall()) : []),
    ];
    if (options.output !== 'text') terminal.print(printValue(findings, options.output));
    else terminal.print(textOf(findings));
    return findings.length > 0 ? exitCodes.failed : exitCodes.ok;
  });
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
  findings.length === 0
    ? 'no problems found'
    : findings
        .map(
          ({ check, object, evidence, risk, command }) =>
            `${object}: ${check}\n  evidence: ${evidence}\n  command:  ${command}\n  risk:     ${risk}`,
        )
        .join('\n\n');
