/** `espalier doctor`: finds objects that are stuck or inconsistent. Only reads. */
import { dataObjectKind, targetKind } from '../../../api/landscaper-kinds.ts';
import type { Kind, Obj } from '../../../runtime/types.ts';
import { withCluster, type NamespacedOptions } from '../../cluster.ts';
import { diagnose, type Finding } from '../../doctor/checks.ts';
import { exitCodes } from '../../errors.ts';
import { printJson } from '../../terminal/documents.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { collect } from '../../tree/collect.ts';

export interface DoctorOptions extends NamespacedOptions {
  readonly allNamespaces?: true;
  readonly output: string;
}

export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  return withCluster(options, terminal, async ({ client, clock, ...cluster }) => {
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
    const findings = diagnose({ ...(await collect(client, namespace)), data, now: clock.wall() });
    if (options.output === 'json') terminal.print(printJson(findings));
    else terminal.print(textOf(findings));
    return findings.length > 0 ? exitCodes.failed : exitCodes.ok;
  });
}

const textOf = (findings: readonly Finding[]): string =>
  findings.length === 0
    ? 'no problems found'
    : findings
        .map(
          ({ check, object, evidence, risk, command }) =>
            `${object}: ${check}\n  evidence: ${evidence}\n  command:  ${command}\n  risk:     ${risk}`,
        )
        .join('\n\n');
