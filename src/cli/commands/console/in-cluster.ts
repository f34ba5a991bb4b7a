/** `espalier console --in-cluster`: serves the console to all users of the cluster, who log in with their tokens. */
import { systemClock } from '../../../lib/clock.ts';
import { systemRng } from '../../../lib/rng.ts';
import { createCaches } from '../../../runtime/cache/cache.ts';
import type { CertificateFiles } from '../../../runtime/certificate-files.ts';
import { aborted, onInterrupt } from '../../../runtime/manager/signals.ts';
import { createClient } from '../../../runtime/transport/client.ts';
import { connect } from '../../../runtime/transport/http.ts';
import { readConfiguration } from '../../configuration/configuration.ts';
import type { Allowances } from '../../console/in-cluster/allowances.ts';
import { startInCluster } from '../../console/in-cluster/start.ts';
import { UsageError } from '../../errors.ts';
import { kubeconfigSource, type ClusterOptions } from '../../kubeconfig.ts';
import { applyVerbosity, loggerFor, type LogOptions } from '../../logging.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { planningArgs, type PlanningOptions } from '../plan/options.ts';
import { readOne } from './read-one.ts';

export interface InClusterCommandOptions extends ClusterOptions, LogOptions, PlanningOptions {
  readonly namespace?: string;
  readonly port?: number;
  readonly host?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly allowedHosts?: readonly string[];
  readonly trustForwardedHeaders?: boolean;
  readonly allowTargets?: true;
  readonly allowPlans?: true;
  readonly maxPlans?: number;
  readonly maxPlansPerUser?: number;
  readonly planMemory?: number;
  readonly planTimeout?: number;
}

const PORT = 8082;
/** For plans: the memory of the pod has to suffice for all of them. */
const MAX_PLANS = 2;
const MAX_PLANS_PER_USER = 1;
const PLAN_MEMORY_MIB = 512;
const PLAN_TIMEOUT_MS = 120_000;

export async function serveInCluster(options: InClusterCommandOptions, terminal: Terminal): Promise<void> {
  applyVerbosity(terminal, options);
  const log = loggerFor(options, { level: 'info' });
  const certificate = certificateOf(options);
  const allowances = allowancesOf(options);
  const namespaces = namespacesOf(options, log);
  const kubeconfig = kubeconfigSource(options, terminal.env);
  const interruption = onInterrupt(() => {
    log.info({}, 'stopping; a second signal exits immediately');
  });
  const [clock, rng] = [systemClock, systemRng];
  try {
    const connection = await connect({ kubeconfig, userAgent: 'espalier-console', clock, rng, log });
    const client = createClient(connection);
    try {
      await readOne(client, namespaces);
      const caches = createCaches({ client, clock, rng, log });
      const { host = '0.0.0.0', port = PORT, allowedHosts = [], trustForwardedHeaders = false } = options;
      const rules = {
        allowedHosts: allowedHosts.map((name) => name.toLowerCase()),
        trustsForwardedHeaders: trustForwardedHeaders,
      };
      const self = await connection.address();
      const settings = { host, port, namespaces, rules, certificate, allowances, env: terminal.env };
      const running = await startInCluster({ caches, clock, self }, settings, log);
      log.info({ host, port: running.port, isTls: certificate !== undefined }, 'started');
      await aborted(interruption.signal);
      await running.close();
    } finally {
      await client.close();
    }
  } finally {
    interruption.release();
  }
}

/** @throws UsageError if only one of the files is given */
function certificateOf({ tlsCert, tlsKey }: InClusterCommandOptions): CertificateFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new UsageError(`--${tlsCert === undefined ? 'tls-cert' : 'tls-key'} is missing; give both files`);
  return { cert: tlsCert, key: tlsKey };
}

/** @throws UsageError for plans without connections to targets */
function allowancesOf(options: InClusterCommandOptions): Allowances {
  const { allowTargets = false, allowPlans = false } = options;
  if (!allowPlans) return { targets: allowTargets };
  if (!allowTargets)
    throw new UsageError(
      '--allow-plans: plans connect to targets, so they also need --allow-targets; both make the console send requests to addresses that tenants write',
    );
  return {
    targets: true,
    plans: {
      planArgs: planningArgs(options),
      total: options.maxPlans ?? MAX_PLANS,
      perUser: options.maxPlansPerUser ?? MAX_PLANS_PER_USER,
      memoryMiB: options.planMemory ?? PLAN_MEMORY_MIB,
      timeoutMs: options.planTimeout ?? PLAN_TIMEOUT_MS,
    },
  };
}

/** Undefined: all. */
function namespacesOf(
  { namespace, config }: InClusterCommandOptions,
  log: Parameters<typeof readConfiguration>[1],
): readonly string[] | undefined {
  if (namespace !== undefined) return [namespace];
  return config === undefined ? undefined : readConfiguration(config, log).watchNamespaces;
}

/** Options that have no effect without --in-cluster. */
export function refuseWithout(options: InClusterCommandOptions): void {
  const given = [
    ['--host', options.host],
    ['--tls-cert', options.tlsCert],
    ['--tls-key', options.tlsKey],
    ['--allowed-hosts', options.allowedHosts],
    ['--trust-forwarded-headers', options.trustForwardedHeaders],
    ['--allow-targets', options.allowTargets],
    ['--allow-plans', options.allowPlans],
    ['--max-plans', options.maxPlans],
    ['--max-plans-per-user', options.maxPlansPerUser],
    ['--plan-memory', options.planMemory],
    ['--plan-timeout', options.planTimeout],
  ].flatMap(([name, value]) => (value === undefined ? [] : [String(name)]));
  if (given.length === 0) return;
  throw new UsageError(
    `${given.join(', ')}: only with --in-cluster; without it, the console serves one user on 127.0.0.1`,
  );
}
