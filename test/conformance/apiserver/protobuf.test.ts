/** Protobuf bodies: scenario API-12. */
import { expect } from 'chai';
import { body, entry, flag, int, message, text } from '../../support/protobuf.ts';
import { succeeded } from './assertions.ts';
import { cm, deployment } from './fixtures.ts';
import { useSubject } from './subject.ts';
import type { Json, Reply } from './subject.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Fields as Go writes them: name, generateName, namespace, selfLink, uid, version, generation, time. */
const metadata = (field: number, name: string, ...more: readonly Buffer[]): Buffer =>
  message(
    field,
    ...[text(1, name), text(2), text(3), text(4), text(5), text(6), int(7), message(8)],
    ...more,
  );

const container = message(
  2,
  ...[text(1, 'c'), text(2, 'nginx:1'), text(5), message(8), text(13), text(14)],
  ...[flag(16), flag(17), flag(18), text(20)],
);
const podSpec = message(
  2,
  ...[container, text(3), text(6), text(8), text(9), text(10)],
  ...[flag(11), flag(12), flag(13), text(16), text(17), text(19), text(24)],
);
const deploymentSpec = (name: string): Buffer =>
  message(
    2,
    int(1, 0),
    message(2, entry(1, 'app', name)),
    message(3, metadata(1, '', entry(11, 'app', name)), podSpec),
    message(4, text(1)),
    ...[int(5), flag(7)],
  );
const deploymentStatus = message(3, int(1), int(2), int(3), int(4), int(5), int(7));

/** Fields that the server generates for each object. */
function comparable({ metadata: own, ...rest }: Json): Json {
  const { name: _, uid: _uid, resourceVersion: _rv, creationTimestamp: _time, ...kept } = own;
  const managers = (own.managedFields as Json[]).map(({ time: _when, ...entryOf }) => entryOf);
  return { ...rest, metadata: { ...kept, managedFields: managers } };
}

function emptyStrings(value: Json, path = ''): string[] {
  if (value === '') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as object).flatMap(([key, each]) => emptyStrings(each, `${path}/${key}`));
}

describe('protobuf bodies', () => {
  const s = useSubject();
  let ns: string;

  beforeEach(async () => {
    ns = await s.namespace();
  });

  const rows: readonly {
    readonly what: string;
    readonly path: () => string;
    readonly protobuf: Buffer;
    readonly json: Json;
    readonly check?: (stored: Json) => void;
  }[] = [
    {
      what: 'a ConfigMap',
      path: () => `/api/v1/namespaces/${ns}/configmaps`,
      protobuf: body('v1', 'ConfigMap', metadata(1, 'p', entry(11, 'l', 'x')), entry(2, 'a', '1')),
      json: cm('j', { metadata: { labels: { l: 'x' } } }),
    },
    {
      what: 'a Secret',
      path: () => `/api/v1/namespaces/${ns}/secrets`,
      protobuf: body('v1', 'Secret', metadata(1, 'p'), entry(2, 'a', 'secret'), text(3)),
      json: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'j' }, data: { a: 'c2VjcmV0' } },
    },
    {
      what: 'a Deployment without replicas',
      path: () => `/apis/apps/v1/namespaces/${ns}/deployments`,
      protobuf: body('apps/v1', 'Deployment', metadata(1, 'p'), deploymentSpec('j'), deploymentStatus),
      json: deployment('j', {
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: 'j' } },
          template: {
            metadata: { labels: { app: 'j' } },
            spec: { containers: [{ name: 'c', image: 'nginx:1' }] },
          },
        },
      }),
      check: (stored) => expect(stored.spec.replicas).to.equal(0),
    },
  ];
  for (const { what, path, protobuf, json, check } of rows)
    it(`API-12: ${what} is stored like its JSON form`, async () => {
      const made = await s.post(path(), protobuf, { type: PROTOBUF });
      expect(made.code, made.text).to.equal(201);
      succeeded(await s.post(path(), json));
      const stored = (await s.get(`${path()}/p`)).body;
      expect(emptyStrings(stored)).to.deep.equal([]);
      expect(comparable(stored)).to.deep.equal(comparable((await s.get(`${path()}/j`)).body));
      check?.(stored);
    });

  it('API-12: a TokenRequest is answered with a token of the requested lifetime', async () => {
    await s.post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'sa' } });
    const request = body(
      'authentication.k8s.io/v1',
      'TokenRequest',
      metadata(1, ''),
      message(2, int(4, 1200)),
      message(3, text(1), message(2)),
    );
    const reply: Reply = await s.post(`/api/v1/namespaces/${ns}/serviceaccounts/sa/token`, request, {
      type: PROTOBUF,
    });
    expect(reply.code, reply.text).to.equal(201);
    expect(reply.body.spec.expirationSeconds).to.equal(1200);
    expect(reply.body.status.token).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it('API-12: a body that is not protobuf is rejected', async () => {
    const reply = await s.post(`/api/v1/namespaces/${ns}/configmaps`, Buffer.from('{}'), { type: PROTOBUF });
    expect(reply.code, reply.text).to.equal(400);
  });
});
