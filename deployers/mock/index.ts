/** The mock deployer: installs nothing and reports the result in its configuration. For tests and demonstrations. */
import { GROUP } from '../../src/api/labels.ts';
import { isFinalPhase } from '../../src/api/job.ts';
import { passthrough, CodecError } from '../sdk/codec.ts';
import type { DeployerPlugin } from '../sdk/deployer.ts';
import type { Fields } from '../../src/lib/objects.ts';
import { done, fail, wait, type Outcome } from '../sdk/outcome.ts';
import { nothingPlanned } from '../sdk/item-plan.ts';
import { timeoutAt } from '../sdk/timeout.ts';
import { mockConfig, type MockConfig } from './config.ts';

interface MockOptions {
  /**
   * Whether an item that should stay unfinished fails after its timeout. Off by default, because upstream's mock
   * deployer stays unfinished and tests rely on it.
   */
  readonly endsOnTimeout?: boolean;
}

const CONDITION = 'DeployItemValidation';

export function mockDeployer(options: MockOptions = {}): DeployerPlugin<unknown, Fields> {
  return {
    type: `${GROUP}/mock`,
    name: `mock.deployer.${GROUP}`,
    version: '0.1.0',
    initOperation: 'InitMockOperation',
    config: { ...passthrough, unread: (document) => mockConfig.unread?.(document) ?? [] },
    schedule: (config) => mockConfig.decode(config).continuousReconcile,
    apply: (ctx) => Promise.resolve(pretend(ctx.config, ctx.item.status?.phase, options)),
    plan: () => Promise.resolve(nothingPlanned),
    async remove({ host, item }) {
      const exported = item.status?.exportRef?.name;
      if (exported !== undefined) await host.deleteSecret(exported);
      return done();
    },
  };
}

function pretend(document: unknown, phase: string | undefined, options: MockOptions): Outcome<Fields> {
  let config: MockConfig;
  try {
    config = mockConfig.decode(document);
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    return refuse(error.message);
  }
  const conditions = [
    {
      type: CONDITION,
      status: 'True',
      reason: 'SuccessfullValidation',
      message: 'Successfully validated configuration',
    },
  ] as const;
  const common = {
    conditions,
    ...(config.export !== undefined && { exports: { value: config.export, generateName: 'mock-export-' } }),
    ...(config.providerStatus && { status: config.providerStatus }),
  };
  const answer = phaseOf(config, phase);
  if (isFinalPhase(answer)) return done({ ...common, phase: answer });
  return wait({
    ...common,
    phase: answer,
    requeueAfterMs: POLL_INTERVAL_MS,
    onTimeout: options.endsOnTimeout ? timeoutAt('mock deployer: wait') : undefined,
  });
}

/** Only a change of the configuration matters, and that triggers an event, so polling is rare. */
const POLL_INTERVAL_MS = 60_000;

/** @param phase of the item, absent before its first job */
function phaseOf(config: MockConfig, phase: string | undefined): string {
  if (config.phase) return config.phase;
  if (!config.initialPhase) return 'Succeeded';
  const hasJustBegun = phase === undefined || phase === '' || phase === 'Init' || isFinalPhase(phase);
  return hasJustBegun ? config.initialPhase : phase;
}

const refuse = (message: string): Outcome<Fields> =>
  fail(
    { operation: 'reconcile', reason: 'Reconcile', message, codes: ['ERR_CONFIGURATION_PROBLEM'] },
    { conditions: [{ type: CONDITION, status: 'False', reason: 'FailedUnmarshal', message }] },
  );
