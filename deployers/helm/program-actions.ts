/** Carries out actions with the helm program. */
import { isGzip, packed } from '../../src/lib/gzip.ts';
import type { Outlook } from '../../src/lib/outlook.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { ActionProblem, ApplyStep, ReleaseActions } from './actions.ts';
import { actionFlags, timeoutFlag } from './flags.ts';
import { callHelm, helmOf, shown, type HelmFiles } from './helm-call.ts';
import type { HelmContext, HelmOptions } from './helm-context.ts';
import { deleteRecord } from './releases.ts';
import { isValidName, NAME_RULE } from './release/revision.ts';

/** Helm would refuse the name as well, unless it begins like a flag. */
const refused = (name: string): ActionProblem => ({ message: `release name "${name}": ${NAME_RULE}` });

/** The exit code of the program does not say whether another run can succeed. */
class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
  readonly outlook: Outlook;
  constructor(message: string, outlook: Outlook) {
    super(message);
    this.outlook = outlook;
  }
}

/** The program says only by its message that its time was over. */
const WAITED = /context deadline exceeded|timed out waiting/;

/**
 * Whether the program fails in the same way when it only renders the chart: then templates, values or the chart are
 * wrong, and another run fails again.
 */
async function failsWithoutCluster(
  message: string,
  files: HelmFiles,
  ctx: HelmContext,
  options: HelmOptions,
): Promise<boolean> {
  const { name, namespace } = ctx.config;
  const values = ['--namespace', namespace, '--values', '{values.json}'];
  const rendered = await callHelm(ctx, options, () => ({
    args: ['template', name, '{chart.tgz}', ...values],
    files,
  }));
  const [found = ''] = shown(rendered, ctx).split('\n\nUse --debug flag');
  return !rendered.isOk && found !== '' && message.includes(found);
}

export function programActions(ctx: HelmContext, access: KubeAccess, options: HelmOptions): ReleaseActions {
  const apply =
    (action: 'install' | 'upgrade') =>
    async ({ chart: { bytes }, isReinstall, timeoutMs }: ApplyStep): Promise<ActionProblem | undefined> => {
      const { config } = ctx;
      if (!isValidName(config.name)) return refused(config.name);
      const chosen = config[action];
      const files = {
        'chart.tgz': isGzip(bytes) ? bytes : packed(bytes),
        'values.json': JSON.stringify(config.values),
      };
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
        files,
      }));
      if (answer.isOk) return undefined;
      const message = shown(answer, ctx);
      const hasWaited = WAITED.test(message);
      const isFinal = !hasWaited && (await failsWithoutCluster(message, files, ctx, options));
      return { message, hasWaited, cause: new ProgramFailed(message, isFinal ? 'final' : 'unknown') };
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
