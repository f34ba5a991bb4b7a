/** Carries out actions with the helm program. */
import { isGzip, packed } from '../../src/lib/gzip.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { ActionProblem, ApplyStep, ReleaseActions } from './actions.ts';
import { actionFlags, timeoutFlag } from './flags.ts';
import { callHelm, helmOf, shown } from './helm-call.ts';
import type { HelmContext, HelmOptions } from './helm-context.ts';
import { deleteRecord } from './releases.ts';
import { isValidName, NAME_RULE } from './release/revision.ts';

/** Helm would refuse the name as well, unless it begins like a flag. */
const refused = (name: string): ActionProblem => ({ message: `release name "${name}": ${NAME_RULE}` });

export function programActions(ctx: HelmContext, access: KubeAccess, options: HelmOptions): ReleaseActions {
  const apply =
    (action: 'install' | 'upgrade') =>
    async ({ chart: { bytes }, isReinstall, timeoutMs }: ApplyStep): Promise<ActionProblem | undefined> => {
      const { config } = ctx;
      if (!isValidName(config.name)) return refused(config.name);
      const chosen = config[action];
      const answer = await callHelm(ctx, options, (major) => ({
        args: [
          action,
          config.name,
          '{chart.tgz}',
          '--namespace',
          config.namespace,
          '--values',
          '{values.json}',
          ...actionFlags(chosen, major),
          ...timeoutFlag(timeoutMs),
          ...(action === 'install' && config.createNamespace ? ['--create-namespace'] : []),
          ...(action === 'install' && isReinstall ? ['--replace'] : []), // a user ran helm with --keep-history
          ...(action === 'upgrade' ? ['--history-max', '10', '--reset-values'] : []),
        ],
        files: {
          'chart.tgz': isGzip(bytes) ? bytes : packed(bytes),
          'values.json': JSON.stringify(config.values),
        },
      }));
      return answer.isOk ? undefined : { message: shown(answer, ctx) };
    };
  return {
    check: () => void helmOf(options),
    install: apply('install'),
    upgrade: apply('upgrade'),
    async uninstall({ name, namespace, waits, timeoutMs }) {
      if (!isValidName(name)) return refused(name);
      const answer = await callHelm(ctx, options, () => ({
        args: [
          'uninstall',
          name,
          '--namespace',
          namespace,
          ...(waits ? ['--wait'] : []),
          ...timeoutFlag(timeoutMs),
        ],
        files: {},
      }));
      const isDone = answer.isOk || answer.stderr.includes('release: not found');
      return isDone ? undefined : { message: shown(answer, ctx) };
    },
    discard: (record) => deleteRecord(access, record, ctx.signal),
  };
}
