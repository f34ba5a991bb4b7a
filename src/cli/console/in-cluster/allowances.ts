/**
 * What an administrator may allow viewers in the cluster, with their own rights: connections to targets, and plans. Both
 * send requests to addresses that tenants write.
 */
import { connectorOf, targetReaderOf } from '../../../../deployers/sdk/controller.ts';
import type { Clock } from '../../../lib/clock.ts';
import { secureRng } from '../../../lib/secure-rng.ts';
import type { Logger } from '../../../observability/log.ts';
import { createResponses } from '../../../runtime/transport/responses.ts';
import type { ServerAddress } from '../../../runtime/transport/http.ts';
import type { Client } from '../../../runtime/types.ts';
import type { Viewer } from '../access.ts';
import { createPlanners, standardLimits, type PlanLimits } from '../changes/plan-process.ts';
import { kubeconfigWith } from './viewer-client.ts';

interface AllowedPlans extends Omit<PlanLimits, 'maxBytes'> {
  /** Arguments of `espalier plan`: the configuration and the deployers. */
  readonly planArgs: readonly string[];
  /** The program that computes plans; default: this one. */
  readonly program?: readonly string[];
}

export interface Allowances {
  readonly targets: boolean;
  readonly plans?: AllowedPlans | undefined;
}

interface LoggedIn {
  readonly client: Client;
  readonly token: string;
  readonly name: string;
  /** The same in all sessions of the user. */
  readonly id: string;
}

/** @param signal ends with the session */
export type AllowedFor = (user: LoggedIn, signal: AbortSignal) => Pick<Viewer, 'targets' | 'plan'>;

/** Pods are small, and the memory is shared by all viewers. */
const RESPONSE_MIB = 4;

/** Variables that processes with the rights of a viewer get. The others may contain credentials of the pod. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'NODE_EXTRA_CA_CERTS'];
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];

export function allowedFor(
  { targets, plans }: Allowances,
  self: ServerAddress,
  { clock, log, env }: { readonly clock: Clock; readonly log: Logger; readonly env: NodeJS.ProcessEnv },
): AllowedFor {
  const connect = connectorOf({
    clock,
    log,
    rng: secureRng,
    responses: createResponses({ targetResponseMiB: RESPONSE_MIB }).target,
  });
  const plannerOf =
    plans &&
    createPlanners({
      // The kubeconfig has only the token of the viewer, and there is no other source of credentials.
      planArgs: ['--kubeconfig-stdin', '--no-registry-credentials', ...plans.planArgs],
      limits: { ...plans, maxBytes: standardLimits.maxBytes },
      env: passedOn(env),
      ...(plans.program && { program: plans.program }),
    });
  return ({ client, token, name, id }, signal) => {
    const plan = plannerOf?.({ id, kubeconfig: kubeconfigWith(self, token) });
    return {
      targets: targets
        ? targetReaderOf({ client, clock, log, rng: secureRng, connect, signal, self })
        : undefined,
      plan:
        plan &&
        ((landscape, leaving) => {
          log.info({ user: name, landscape: `${landscape.namespace}/${landscape.name}` }, 'plan requested');
          return plan(landscape, AbortSignal.any([leaving, signal]));
        }),
    };
  };
}

const passedOn = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    [...PASSED_ON, ...PROXIES, ...PROXIES.map((name) => name.toLowerCase())].flatMap((name) =>
      env[name] === undefined ? [] : [[name, env[name]]],
    ),
  );
