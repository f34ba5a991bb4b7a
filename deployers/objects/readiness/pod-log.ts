/**
 * The last lines of a pod, for messages. A program may print the secrets that it gets, so their values are masked; if
 * one of them cannot be read, the lines are left out.
 */
import { cutEnd, cutStart } from '../../../src/lib/cut.ts';
import { append } from '../../../src/lib/lists.ts';
import { maskOf, type Mask } from '../../../src/lib/masking.ts';
import { isObject, ownField, table } from '../../../src/lib/objects.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import { pathOf } from '../../../src/runtime/transport/path.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import { secretValues } from '../manifests/secrets.ts';
import type { KubeObject } from '../manifests/model.ts';

const LINES = 8;
const MAX_READ_BYTES = 64 * 1024;
const MAX_LINE = 300;
const MAX_SHOWN = 1000;
/** Pods with more secrets are rare; the lines of one are left out. */
const MAX_SECRETS = 16;

interface LogPorts {
  readonly access: KubeAccess;
  readonly signal: AbortSignal;
  readonly mask: Mask;
}

/** @returns undefined if there are none, or if they cannot be shown */
export async function lastLines(
  pod: KubeObject,
  container: string,
  { access, signal, mask }: LogPorts,
): Promise<string | undefined> {
  try {
    const secrets = await maskOfSecrets(pod, access, signal);
    if (!secrets) return undefined;
    const kind = await access.kindOf('v1', 'Pod', signal);
    const path = pathOf(kind, `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`, 'log');
    const query = new URLSearchParams({
      container,
      tailLines: String(LINES),
      limitBytes: String(MAX_READ_BYTES),
    });
    const text = await access.client.raw('GET', `${path}?${query.toString()}`, undefined, signal);
    return typeof text === 'string' ? shown(secrets(mask(text))) : undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined; // The target may not permit to read logs, and old pods have none.
  }
}

/** The end, after masking, because a mask does not recognise a part of a secret. */
function shown(text: string): string | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.replaceAll(/[^\P{C}\t]/gu, '').trim())
    .filter((line) => line !== '')
    .map((line) => (line.length > MAX_LINE ? `${cutEnd(line, MAX_LINE)}…` : line));
  const all = lines.join('\n');
  if (all === '') return undefined;
  return all.length > MAX_SHOWN ? `…${cutStart(all, MAX_SHOWN)}` : all;
}

/** @returns undefined if a secret cannot be read */
async function maskOfSecrets(
  pod: KubeObject,
  access: KubeAccess,
  signal: AbortSignal,
): Promise<Mask | undefined> {
  const names = secretsOf(pod);
  if (names.size === 0) return (text) => text;
  if (names.size > MAX_SECRETS) return undefined;
  const kind = await access.kindOf('v1', 'Secret', signal);
  const values: unknown[] = [];
  for (const name of names) {
    const secret = await getIfThere(access.client, kind, `${pod.metadata.namespace ?? ''}/${name}`, signal);
    if (!secret) return undefined;
    append(values, secretValues(secret as KubeObject));
  }
  return maskOf(values);
}

/** Fields of a pod's spec that name a secret whose values the pod gets. */
const NAMES: Readonly<Record<string, string>> = table({
  secretKeyRef: 'name',
  secretRef: 'name',
  secret: 'secretName',
});

/** The names of the secrets in environment variables and volumes, including projected ones. */
function secretsOf(pod: KubeObject): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    if (!isObject(value)) return;
    for (const [key, field] of Object.entries(value)) {
      const name =
        ownField(field, NAMES[key] ?? '') ?? (key === 'secret' ? ownField(field, 'name') : undefined);
      if (typeof name === 'string' && name !== '') found.add(name);
      visit(field);
    }
  };
  const spec = ownField(pod, 'spec');
  for (const part of ['initContainers', 'containers', 'volumes']) visit(ownField(spec, part));
  return found;
}
