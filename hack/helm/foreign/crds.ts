/** Creates foreign CustomResourceDefinitions, and objects of their kinds, on kube-apiserver and on the embedded API server. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { messageOf } from '../../../src/lib/message-of.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';
import { textOfYaml } from '../../../src/lib/yaml-bytes.ts';
import { parseYamlAll } from '../../../src/lib/yaml.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { ApiError, NotFound } from '../../../src/runtime/errors.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { startEnvtest } from '../../../test/support/envtest.ts';
import { objectOf, shapes } from './objects-of.ts';
import { rowOf, type NamedFile, type Outcome, type Row } from './table.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NAMESPACE = 'default';
const POLL_MS = 50;
const PATIENCE_MS = 60_000;

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly plural: string; readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly schema?: { readonly openAPIV3Schema?: unknown };
    }[];
  };
}

/** @throws YamlError */
export const definitionsIn = (text: string): readonly Definition[] =>
  parseYamlAll(text)
    .flatMap((document) => (ownField(document, 'items') as unknown[] | undefined) ?? [document])
    .filter((document) => ownField(document, 'kind') === 'CustomResourceDefinition')
    .map((document) => document as Definition);

/** Members that differ between any two servers, or between two runs. */
const VOLATILE = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'lastTransitionTime',
]);

const isCondition = (value: unknown): value is Condition =>
  typeof ownField(value, 'type') === 'string' && typeof ownField(value, 'status') === 'string';

/** As text with sorted members and conditions. */
export const comparable = (object: unknown): string =>
  JSON.stringify(
    object,
    (name, value: unknown) => {
      if (VOLATILE.has(name)) return undefined;
      if (Array.isArray(value) && value.every(isCondition))
        return [...value].sort((a, b) => (a.type < b.type ? -1 : 1));
      if (!isObject(value)) return value;
      return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    1,
  );

async function outcomeOf(client: Client, definition: Definition): Promise<Outcome> {
  const path = `${CRDS}/${definition.metadata.name}`;
  try {
    await client.raw('POST', CRDS, definition);
  } catch (error) {
    return refusal(error);
  }
  const parts = new Map<string, string>();
  try {
    const made = await until(async () => {
      const found = await client.raw('GET', path);
      return isSettled(found) ? found : undefined;
    });
    parts.set('the definition', comparable(made));
    for (const [name, text] of await objectsOf(client, definition)) parts.set(name, text);
  } catch (error) {
    return refusal(error);
  } finally {
    await client.raw('DELETE', path);
    await until(() => client.raw('GET', path).then(() => undefined, isGone));
  }
  return { parts };
}

/** Whether the server has decided on names and approval, and serves the kind if it accepts the names. */
function isSettled(definition: unknown): boolean {
  const conditions = (ownField(ownField(definition, 'status'), 'conditions') ?? []) as readonly Condition[];
  const has = (type: string, status: string): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === status);
  const isReserved = /(?:^|\.)k(?:8s|ubernetes)\.io$/.test(
    String(ownField(ownField(definition, 'spec'), 'group')),
  );
  const type = 'KubernetesAPIApprovalPolicyConformant';
  if (isReserved && !has(type, 'True') && !has(type, 'False')) return false;
  return has('Established', 'True') || has('NamesAccepted', 'False');
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

const isGone = (error: unknown): true => {
  if (error instanceof NotFound) return true;
  throw error;
};

function refusal(error: unknown): Outcome {
  if (error instanceof ApiError) return { error: messageOf(error) };
  throw error;
}

/** What becomes of each object, in each version that is served. */
async function objectsOf(
  client: Client,
  { spec }: Definition,
): Promise<readonly (readonly [string, string])[]> {
  const found: (readonly [string, string])[] = [];
  for (const { name: version, served, schema } of spec.versions) {
    if (!served) continue;
    const scope = spec.scope === 'Namespaced' ? `namespaces/${NAMESPACE}/` : '';
    const path = `/apis/${spec.group}/${version}/${scope}${spec.names.plural}`;
    for (const shape of shapes) {
      const body = {
        ...objectOf(schema?.openAPIV3Schema, shape),
        apiVersion: `${spec.group}/${version}`,
        kind: spec.names.kind,
        metadata: { name: shape },
      };
      const text = await until(() => stored(client, path, body));
      found.push([`${version}, the ${shape} object`, text]);
    }
  }
  return found;
}

/** @returns undefined while the server does not know the kind yet */
async function stored(
  client: Client,
  path: string,
  body: { metadata: { name: string } },
): Promise<string | undefined> {
  try {
    const text = comparable(await client.raw('POST', path, body));
    await client.raw('DELETE', `${path}/${body.metadata.name}`);
    return text;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    if (error instanceof ApiError) return `refused with status ${String(error.status)}`;
    throw error;
  }
}

/** @throws Error after a minute */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  const end = clock.now() + PATIENCE_MS;
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
    if (clock.now() > end) throw new Error('the server is not ready after a minute');
    await pause(POLL_MS);
  }
}

/** @throws EnvtestUnavailable if there is no kube-apiserver, and no way to build one */
export async function compareDefinitions(
  files: readonly NamedFile[],
  done: (row: Row) => void,
): Promise<void> {
  const original = await startEnvtest();
  const ours = await startApiServer();
  const clients: Client[] = [];
  try {
    for (const { kubeconfig: text } of [original, ours])
      clients.push(createClient(await connect({ kubeconfig: { text }, userAgent: 'compare', clock, log })));
    const [theirs, own] = clients as [Client, Client];
    for (const { name, path } of files.filter((file) => /\.(ya?ml|json)$/.test(file.name)))
      for (const definition of definitionsIn(textOfYaml(readFileSync(path)))) {
        const title = `${name} (${definition.metadata.name})`;
        done(rowOf(title, await outcomeOf(theirs, definition), await outcomeOf(own, definition)));
      }
  } finally {
    for (const client of clients) await client.close();
    await Promise.all([ours.close(), original.stop()]);
  }
}
