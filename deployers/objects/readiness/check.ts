/**
 * One readiness check of the deployed objects: reads the objects, evaluates the checks, and returns the first
 * object that is not ready.
 */
import { NoSuchKind, NotFound } from '../../../src/runtime/errors.ts';
import type { Mask } from '../../../src/lib/masking.ts';
import type { Problem } from '../../../src/machine/decision.ts';
import { ConfigurationError, isDefinite, messageOf } from '../../sdk/errors.ts';
import { keyOfRef, type KubeObject, type ResourceRef } from '../manifests/model.ts';
import { inParallel } from '../manifests/parallel.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import type { ReadinessRules } from '../../sdk/deployer.ts';
import { PathBudget } from '../path-budget.ts';
import { waitsForConsumer } from './claim.ts';
import { customVerdict, type CustomCheck } from './custom.ts';
import { podProblem } from './pods.ts';
import type { CheckedRef } from './checked.ts';
import { mayBeUnready, verdictOf } from './table.ts';

/** The object that is not ready, and why. */
export interface Unready {
  /** undefined if no object was found. */
  readonly ref?: ResourceRef | undefined;
  readonly why: string;
  /** It will not become ready by itself. */
  readonly isFailed?: boolean;
  /** Nothing is known against it; its controller may just not have seen it. */
  readonly isUnsettled?: boolean;
  /** Milliseconds until the next check; undefined: the worker decides. */
  readonly checkAgainMs?: number | undefined;
}

interface UnreadyObject extends Unready {
  /** Undefined if it cannot be read. */
  readonly object?: KubeObject;
}

interface CheckPorts {
  readonly access: KubeAccess;
  secondary(name: string): Promise<KubeAccess>;
  readonly signal: AbortSignal;
}

interface DefaultPorts extends CheckPorts {
  readonly rules: ReadinessRules;
  /** Masks secrets in messages and logs of the target. */
  readonly mask: Mask;
  /** Whether controllers may not have seen the objects yet. */
  readonly isUnsettled: (object: KubeObject) => boolean;
  /** Called if a job was deleted, because its time after the end was over, before its result was read. */
  readonly onLost: (ref: ResourceRef) => void;
}

/** Milliseconds between checks of an object without status. */
const UNSETTLED_MS = 1000;

/**
 * The managed object that decides: the first that has failed, otherwise the first that is not ready.
 * @param known objects as the cluster just returned them; they are not read again
 */
export async function defaultCheck(
  checked: readonly CheckedRef[],
  known: ReadonlyMap<ResourceRef, KubeObject>,
  ports: DefaultPorts,
): Promise<Unready | undefined> {
  const found = await inParallel(checked, async (one): Promise<UnreadyObject | undefined> => {
    const { ref } = one;
    const fresh = known.get(ref);
    if (fresh && !mayBeUnready(ref, ports.rules)) return undefined;
    const object = fresh ?? (await read(ref, ports.access, ports.signal));
    if (typeof object !== 'string') return unreadyOf(one, object, ports);
    if (one.secondsAfterEnd === undefined || ports.rules === 'landscaper') return { ref, why: object };
    ports.onLost(ref);
    return undefined;
  });
  const unready = found.filter((one) => one !== undefined);
  const first =
    unready.find(({ isFailed }) => isFailed) ?? unready.find((one) => !one.isUnsettled) ?? unready[0];
  if (!first?.object) return first;
  const { object, ...rest } = first;
  const problem = await podProblem(object, { ...ports, withLog: rest.isFailed === true });
  const why = ports.mask(problem === undefined ? first.why : `${first.why}; ${problem}`);
  return { ...rest, why };
}

async function unreadyOf(
  { ref, secondsAfterEnd }: CheckedRef,
  object: KubeObject,
  ports: DefaultPorts,
): Promise<UnreadyObject | undefined> {
  const verdict = verdictOf(object, ports.rules);
  const isUnsettled = verdict.isUnsettled === true && ports.isUnsettled(object);
  if (verdict.isReady && !isUnsettled) return undefined;
  if (verdict.isReady)
    return { ref, why: 'the object has no status yet', isUnsettled, checkAgainMs: UNSETTLED_MS };
  if (await waitsForConsumer(object, ports)) return undefined;
  return {
    ref,
    why: verdict.why,
    object,
    isFailed: verdict.isFailed === true && !isUnsettled,
    checkAgainMs: secondsAfterEnd === undefined ? undefined : checkAgainMs(secondsAfterEnd),
  };
}

/** The result of a job that is deleted soon after its end must be read before. */
const checkAgainMs = (secondsAfterEnd: number): number | undefined =>
  secondsAfterEnd < 30 ? Math.max(500, secondsAfterEnd * 500) : undefined;

/** The first object that fails one of the checks. */
export async function customChecks(
  checks: readonly CustomCheck[],
  ports: CheckPorts,
): Promise<Unready | undefined> {
  const budget = new PathBudget();
  for (const check of checks) {
    if (check.isDisabled) continue;
    const unready = await customCheck(check, ports, budget);
    if (unready) return { ...unready, why: `check ${check.name}: ${unready.why}` };
  }
  return undefined;
}

async function customCheck(
  check: CustomCheck,
  ports: CheckPorts,
  budget: PathBudget,
): Promise<Unready | undefined> {
  let access = ports.access;
  try {
    if (check.targetName) access = await ports.secondary(check.targetName);
    for (const ref of check.resources) {
      const object = await read(ref, access, ports.signal);
      if (typeof object === 'string') return { why: object };
      const verdict = customVerdict(object, check.requirements, budget);
      if (!verdict.isReady) return { ref, why: verdict.why };
    }
    return check.labels
      ? await labelled(check, check.labels, access, { signal: ports.signal, budget })
      : undefined;
  } catch (error) {
    if (ports.signal.aborted || error instanceof ConfigurationError || isDefinite(error)) throw error;
    return { why: messageOf(error) };
  }
}

async function labelled(
  check: CustomCheck,
  { apiVersion, kind: name, matchLabels }: NonNullable<CustomCheck['labels']>,
  access: KubeAccess,
  { signal, budget }: { readonly signal: AbortSignal; readonly budget: PathBudget },
): Promise<Unready | undefined> {
  const kind = await access.kindOf(apiVersion, name);
  const labels = Object.entries(matchLabels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  let count = 0;
  for await (const page of access.client.list(kind, { labels }, signal)) {
    for (const object of page.items) {
      count++;
      const verdict = customVerdict(object, check.requirements, budget);
      const { name: objectName, namespace } = object.metadata;
      const ref = { apiVersion, kind: name, name: objectName, ...(namespace && { namespace }) };
      if (!verdict.isReady) return { ref, why: verdict.why };
    }
  }
  return count === 0 ? { why: 'object list by label selector is empty' } : undefined;
}

/** The object, or why it cannot be read. */
async function read(ref: ResourceRef, access: KubeAccess, signal: AbortSignal): Promise<KubeObject | string> {
  try {
    const kind = await access.kindOf(ref.apiVersion, ref.kind);
    const { namespace: _, ...ofCluster } = ref;
    const key = keyOfRef(kind.namespaced ? ref : ofCluster);
    return (await access.client.get(kind, key, signal)) as KubeObject;
  } catch (error) {
    if (error instanceof NotFound || error instanceof NoSuchKind) return messageOf(error);
    throw error;
  }
}

const WAIT = 'WaitForObjectsReady';

/** The error of a job that ends because an object has failed. */
export const failureOf = (unready: Unready): Problem => ({ ...waitingFor(unready), reason: 'ObjectFailed' });

/** The status of a job while it waits. */
export const waitingFor = ({ ref, why }: Unready): Problem => ({
  operation: WAIT,
  reason: 'NotReady',
  message: ref ? `${ref.kind} ${keyOfRef(ref)}: ${why}` : why,
});

/** The error of a job whose timeout ends while it waits. */
export const timeoutFor = ({ ref }: Unready): Problem => ({
  operation: WAIT,
  reason: 'ProgressingTimeout',
  message: ref
    ? `timeout at: "deployer: during readiness check - resource ${ref.namespace ?? ''}/${ref.name} of type ${ref.kind}"`
    : 'timeout at: "deployer: during readiness check"',
  codes: ['ERR_TIMEOUT', 'ERR_FOR_INFO_ONLY'],
});
