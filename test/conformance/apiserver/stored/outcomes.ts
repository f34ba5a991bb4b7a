/** Writes the objects of `cases.ts`, and says what became of each. */
import type { Kind } from '../../../../src/apiserver/kinds/kinds.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { isObject } from '../../../../src/apiserver/types.ts';
import type { Json, Reply, Subject } from '../subject.ts';
import { casesOf, SERVICES, statusCasesOf } from './cases.ts';

/**
 * The stored object, or `refused` and the causes, a line each, or `aborted`: kube-apiserver ends the connection after
 * some invalid objects.
 */
export type Outcome = Json;
export type Outcomes = Readonly<Record<string, Outcome>>;

const rootOf = (kind: Kind, namespace: string): string =>
  [
    kind.group === '' ? '/api/v1' : `/apis/${kind.apiVersion}`,
    ...(kind.namespaced ? [`namespaces/${namespace}`] : []),
    kind.plural,
  ].join('/');

/** Objects without namespace are named differently in each run, since some of them outlive it. */
const RUN = systemClock.wall().toString(36);
const idOf = (kind: Kind, what: string): string => (kind.namespaced ? what : `${what}x${RUN}`);

/** Kinds whose objects change the objects of other tests on the same server. They are only tried. */
const FAR_REACHING = /^(?:Mutating|Validating|PriorityClass)/;

/** Names of definitions follow from their kinds. */
const isDefinition = (kind: Kind): boolean => kind.kind === 'CustomResourceDefinition';
const nameOf = (kind: Kind, id: string): string => (isDefinition(kind) ? `${id}s.stored.example.com` : id);

function withNames(object: Json, id: string, namespace: string): Json {
  const text = JSON.stringify(object)
    .replaceAll('PLURAL', `${id}s`)
    .replaceAll('KIND', id.toUpperCase())
    .replaceAll('SHORT', `${id}t`)
    .replaceAll('NAMESPACE', namespace);
  return JSON.parse(text);
}

/**
 * All objects of a kind, created one after the other.
 * @param isDry whether only the small and the full object are stored: dry runs are faster
 */
export async function created(subject: Subject, kind: Kind, isDry: boolean): Promise<Outcomes> {
  const namespace = kind.namespaced ? await subject.namespace() : 'default';
  const root = rootOf(kind, namespace);
  const outcomes: Record<string, Outcome> = {};
  for (const [i, { name, object }] of casesOf(kind).entries()) {
    const id = idOf(kind, `case${i}`);
    const body = { ...withNames(object, id, namespace), metadata: { name: nameOf(kind, id) } };
    const isTried = FAR_REACHING.test(kind.kind) || (isDry && name.includes(' '));
    const query = isTried ? '?dryRun=All' : '';
    const reply = await answer(subject.post(root + query, body));
    outcomes[name] = outcomeOf(reply, { id, namespace });
    if (query === '' && reply?.code === 201)
      await subject.delete(`${root}/${nameOf(kind, id)}?gracePeriodSeconds=0`);
  }
  for (const [i, { name, object }] of casesOf(kind).entries()) {
    if (name.includes(' ')) continue;
    const id = idOf(kind, `applied${i}`);
    const metadata = { name: nameOf(kind, id) };
    const { apiVersion, kind: type } = kind;
    const body = { apiVersion, kind: type, metadata, ...withNames(object, id, namespace) };
    const query = FAR_REACHING.test(kind.kind) ? '&dryRun=All' : '';
    const reply = await answer(subject.apply(`${root}/${nameOf(kind, id)}`, body, 'm', query));
    outcomes[`${name} applied`] = outcomeOf(reply, { id, namespace });
    if (reply?.code === 201) await subject.delete(`${root}/${nameOf(kind, id)}?gracePeriodSeconds=0`);
  }
  return outcomes;
}

/** All statuses of a kind, written to one object. */
export async function statuses(subject: Subject, kind: Kind): Promise<Outcomes> {
  const namespace = kind.namespaced ? await subject.namespace() : 'default';
  const id = idOf(kind, 'state');
  const url = `${rootOf(kind, namespace)}/${nameOf(kind, id)}`;
  const metadata = { name: nameOf(kind, id) };
  const [first] = casesOf(kind);
  const made = await subject.post(rootOf(kind, namespace), {
    ...withNames(first?.object, id, namespace),
    metadata,
  });
  if (made.code !== 201) throw new Error(made.text);
  const outcomes: Record<string, Outcome> = {};
  for (const { name, object } of statusCasesOf(kind)) {
    // Some members stay if they are absent, so each status replaces the same one.
    await subject.merge(`${url}/status`, { status: null });
    const reply = await answer(subject.put(`${url}/status`, { ...made.body, metadata, status: object }));
    outcomes[name] = outcomeOf(reply, { id, namespace });
  }
  await subject.delete(`${url}?gracePeriodSeconds=0`);
  return outcomes;
}

/** Services of each type, changed to each other type. */
export async function changedServices(subject: Subject): Promise<Outcomes> {
  const namespace = await subject.namespace();
  const root = `/api/v1/namespaces/${namespace}/services`;
  const outcomes: Record<string, Outcome> = {};
  let count = 0;
  for (const [from, before] of Object.entries(SERVICES))
    for (const [to, spec] of Object.entries(SERVICES))
      for (const how of ['put', 'merge', 'strategic'] as const) {
        const id = `case${count++}`;
        const made = await subject.post(root, { metadata: { name: id }, spec: before });
        if (made.code !== 201) throw new Error(made.text);
        const { resourceVersion } = made.body.metadata;
        const reply = await subject[how](
          `${root}/${id}`,
          how === 'put' ? { metadata: { name: id, resourceVersion }, spec } : { spec },
        );
        const outcome = outcomeOf(reply, { id, namespace });
        const isKept = reply.body?.spec?.clusterIP === made.body.spec.clusterIP;
        outcomes[`${from} to ${to}, ${how}`] = isObject(outcome) ? { ...outcome, isKept } : outcome;
        await subject.delete(`${root}/${id}`);
      }
  return outcomes;
}

const answer = (reply: Promise<Reply>): Promise<Reply | undefined> => reply.catch(() => undefined);

interface Names {
  readonly id: string;
  readonly namespace: string;
}

function outcomeOf(reply: Reply | undefined, { id, namespace }: Names): Outcome {
  if (!reply) return 'aborted';
  const named = (text: string): string =>
    text.replaceAll(namespace, 'NAMESPACE').replace(new RegExp(id, 'gi'), 'ID');
  if (reply.code >= 300) return named(refusal(reply));
  return settled(JSON.parse(named(reply.text.replaceAll(reply.body.metadata.uid, 'UID'))));
}

export const isRefused = (outcome: Outcome): outcome is string =>
  typeof outcome === 'string' && outcome.startsWith('refused');

/** Messages that print whole schemas are long, and differ in the middle. */
const MESSAGE = 300;

/** Servers report the causes in any order, some of them twice. */
function refusal({ code, body }: Reply): string {
  const causes: readonly Json[] = code === 422 ? (body.details?.causes ?? []) : [];
  const lines = causes.map(({ reason, field, message }) =>
    `${reason} ${field}: ${message}`.slice(0, MESSAGE),
  );
  const found = lines.length > 0 ? lines : [`${code} ${body.reason}: ${body.message}`];
  return ['refused', ...new Set(found.sort())].join('\n');
}

/** Without what differs from run to run. */
function settled(object: Json): Json {
  const { labels, annotations, finalizers, generation } = object.metadata;
  return values({ ...object, metadata: { labels, annotations, finalizers, generation } }) as Json;
}

function values(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => values(item, key));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => [name, values(member, name)]),
    );
  if (/nodePort$/i.test(key) && Number(value) >= 30_000) return 'PORT';
  if (typeof value !== 'string') return value;
  if (key.startsWith('clusterIP') && value.startsWith('10.')) return 'ADDRESS';
  // Those of the objects themselves are older.
  return /^20(?:2[5-9]|[3-9]\d)-\d\d-\d\dT/.test(value) ? 'NOW' : value;
}
