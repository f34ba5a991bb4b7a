/** Reads the source cluster and the namespace of the TargetSync; no other file reads them. */
import { TARGET_SYNC_OK, annotations, labels } from '../../src/api/labels.ts';
import { namesHere, NamesNotMatched, type NameMatcher } from '../../src/blueprint/match-names.ts';
import { secretKind, type World } from '../../src/landscape/world.ts';
import { ApiError, NotFound, ResponseTooLarge, TransportError } from '../../src/runtime/errors.ts';
import type { Client } from '../../src/runtime/types.ts';
import { isSynced, isSyncedTarget, SECRET_KEY } from './decide.ts';
import { byName, type Host, type Sync, type Wanted } from './snapshot.ts';
import { IncompleteAnswer, listWhere, requestShootAccess, secretsOf, shootsOf } from './source.ts';

/** The spec is invalid; the message says why. */
export class InvalidSpec extends Error {
  override readonly name = 'InvalidSpec';
}

export interface HostPorts {
  readonly world: Pick<World, 'targets' | 'targetSyncs'>;
  readonly client: Client;
}

export async function gatherHost(
  { world, client }: HostPorts,
  self: Sync,
  signal: AbortSignal,
): Promise<Host> {
  const { namespace = '' } = self.metadata;
  const labelled = { namespace, labels: `${labels.targetSync}=${TARGET_SYNC_OK}` };
  const secrets = await listWhere(client, secretKind, labelled, (page) => page.filter(isSynced), signal);
  const ours = byName(secrets);
  const query = { namespace, metadataOnly: true };
  const others = await listWhere(
    client,
    secretKind,
    query,
    (page) => page.filter((s) => !ours.has(s.metadata.name)),
    signal,
  );
  return {
    // eslint-disable-next-line no-restricted-syntax -- once a minute, like the Secrets of the namespace
    targets: byName(world.targets.list(namespace)),
    secrets: ours,
    foreignSecrets: new Set(others.map(({ metadata }) => metadata.name)),
  };
}

interface SourceQuery {
  readonly self: Sync;
  readonly source: Client;
  readonly host: Host;
  /** RFC 3339 */
  readonly now: string;
  readonly signal: AbortSignal;
  /** Default: in this thread. */
  readonly matcher?: NameMatcher | undefined;
}

/** @throws InvalidSpec; the errors of runtime/errors.ts if the source cluster does not respond */
export async function gatherWanted(query: SourceQuery): Promise<Wanted[]> {
  const { spec } = query.self;
  return [
    ...(spec.secretNameExpression ? await wantedSecrets(query, spec.secretNameExpression) : []),
    ...(spec.shootNameExpression ? await wantedShoots(query, spec.shootNameExpression) : []),
    ...(spec.createTargetToSource
      ? [{ as: 'source', name: spec.targetToSourceName || spec.sourceNamespace } as const]
      : []),
  ];
}

const filterOf =
  ({ matcher = namesHere }: SourceQuery, expression: string) =>
  async (names: readonly string[]): Promise<readonly boolean[]> => {
    const matches = await matcher.matchNames({ expression, names }).catch((error: unknown) => {
      if (error instanceof NamesNotMatched) throw new InvalidSpec(error.message, { cause: error });
      throw error;
    });
    if (!matches) throw new InvalidSpec(`invalid regular expression to filter names: ${expression}`);
    return matches;
  };

async function wantedSecrets(query: SourceQuery, expression: string): Promise<Wanted[]> {
  const { self, source, signal } = query;
  const secrets = await secretsOf(source, self.spec.sourceNamespace, filterOf(query, expression), signal);
  return secrets.map(({ metadata: { name }, type = 'Opaque', data = {} }) => ({
    as: 'copy',
    name,
    content: { type, data },
  }));
}

// ---------------------------------------------------------------- shoots

async function wantedShoots(query: SourceQuery, expression: string): Promise<Wanted[]> {
  const { self, source, signal } = query;
  const { sourceNamespace } = self.spec;
  const matches = filterOf(query, expression);
  const shoots = await shootsOf(source, sourceNamespace, matches, signal).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
    throw new InvalidSpec('the source cluster does not serve the kind Shoot (core.gardener.cloud/v1beta1)');
  });
  const wanted: Wanted[] = [];
  for (const { metadata } of shoots) wanted.push(await wantedShoot(query, metadata.name));
  return wanted;
}

async function wantedShoot(query: SourceQuery, name: string): Promise<Wanted> {
  const { self, source, host, now, signal } = query;
  if (isForeign(host, name) || isAccessFresh(host, name, Date.parse(now))) return { as: 'kept', name };
  try {
    const kubeconfig = await requestShootAccess(source, self.spec.sourceNamespace, name, signal);
    const content = { type: 'Opaque', data: { [SECRET_KEY]: kubeconfig } };
    return { as: 'copy', name, content, renewedAt: now };
  } catch (error) {
    if (!isAnswer(error)) throw error;
    return { as: 'unavailable', name, why: `no access to shoot ${name}: ${error.message}` };
  }
}

/** The target will not be written, so its kubeconfig is not requested either. */
function isForeign({ targets, foreignSecrets }: Host, name: string): boolean {
  const target = targets.get(name);
  return foreignSecrets.has(name) || (target !== undefined && !isSyncedTarget(target));
}

const isAnswer = (error: unknown): error is Error =>
  error instanceof ApiError ||
  error instanceof TransportError ||
  error instanceof ResponseTooLarge ||
  error instanceof IncompleteAnswer;

/** A shoot kubeconfig is valid for a day and is renewed after half of it. */
const RENEW_AFTER_MS = 12 * 3_600_000;

export function isAccessFresh({ targets, secrets }: Host, name: string, nowMs: number): boolean {
  const target = targets.get(name);
  const secret = secrets.get(name);
  if (!target || !isSyncedTarget(target) || !secret?.data?.[SECRET_KEY]) return false;
  const renewedAt = Date.parse(target.metadata.annotations?.[annotations.lastTargetSync] ?? '');
  return nowMs - renewedAt <= RENEW_AFTER_MS;
}
