import { expect } from 'chai';
import { slimDeployItem, slimExecution, slimInstallation } from '../../../src/cli/console/slim.ts';
import type { Deletion, EventList, Flow, LandscapeRow, Part } from '../../../src/cli/console/wire.ts';
import { ApiError } from '../../../src/runtime/errors.ts';
import type { Client, Write } from '../../../src/runtime/types.ts';
import { collected, execution, installation, item } from '../cli/given.ts';
import { ask, consoleOf, cookieOf } from './parts.ts';

const SECRET = 'hunter2';

const withStatus = <T extends { status?: unknown }>(object: T, status: object): T => ({
  ...object,
  status: { ...(object.status as object), ...status },
});

const managed = (kind: string, name: string) => ({
  policy: 'manage',
  resource: { apiVersion: 'v1', kind, namespace: 'apps', name, uid: 'o1' },
  patchBeforeDelete: { data: { password: SECRET } },
});

const shop = () =>
  collected(
    installation('shop', { phase: 'Failed', subs: ['db', 'web'] }),
    installation('db', {
      parent: 'shop',
      template: 'database',
      phase: 'Failed',
      error: 'the quota is exhausted',
      spec: { exports: { data: [{ name: 'url', dataRef: 'db-url' }] } },
    }),
    installation('web', {
      parent: 'shop',
      template: 'web',
      phase: 'Succeeded',
      spec: { imports: { data: [{ name: 'url', dataRef: 'db-url' }] } },
    }),
    execution('web', { phase: 'Succeeded' }),
    withStatus(item('i', { execution: 'web', template: 'server', phase: 'Succeeded' }), {
      providerStatus: { managedResources: [managed('Deployment', 'web')], values: SECRET },
    }),
  );

async function serve(client: Partial<Client> = {}) {
  const { server, sessions } = consoleOf(shop(), client);
  const cookie = cookieOf(sessions);
  const get = async <T>(url: string): Promise<T> => (await ask(server, cookie, { url })).json<T>();
  return { server, cookie, get };
}

describe('the data of the console', () => {
  it('shows characters that would reorder the text of a page as escapes', async () => {
    const reordering = '\u202elive\u202c "\u2066x\u2069"';
    const root = installation('shop', { phase: 'Failed', error: reordering });
    const { server, sessions } = consoleOf(collected(root), {});
    const { body } = await ask(server, cookieOf(sessions), { url: '/api/landscapes' });
    expect(body).to.not.match(/[\u202a-\u202e\u2066-\u2069]/);
    const [row] = (JSON.parse(body) as { items: LandscapeRow[] }).items;
    expect(row?.note).to.equal('\\u202elive\\u202c "\\u2066x\\u2069"');
  });

  it('lists roots with the cause of a failure', async () => {
    const { get } = await serve();
    const { items } = await get<{ items: LandscapeRow[] }>('/api/landscapes');
    expect(items).to.have.length(1);
    expect(items[0]).to.include({
      id: 'proj/shop',
      condition: 'failed',
      note: 'database: the quota is exhausted',
      parts: 4,
      failed: 1,
    });
  });

  it('contains the tree down to the objects on the target', async () => {
    const { get } = await serve();
    const { items } = await get<{ items: Part[] }>('/api/landscapes/proj/shop');
    expect(items.map(({ kind, title }) => `${kind} ${title}`)).to.deep.equal([
      'Installation shop',
      'Installation database',
      'Installation web',
      'Execution web',
      'DeployItem server',
      'Object Deployment web',
    ]);
    const ids = new Set(['', ...items.map(({ id }) => id)]);
    for (const { id, parent } of items) expect(ids.has(parent), id).to.equal(true);
  });

  it('says why an object is not ready, and which object holds it', async () => {
    const { get } = await serve();
    const { items } = await get<{ items: Part[] }>('/api/landscapes/proj/shop');
    const [root, db, web] = items;
    expect(root?.why?.holders).to.deep.equal([
      { id: 'Installation/proj/db', text: 'Installation database, Failed' },
    ]);
    expect(db?.why?.summary).to.equal('the quota is exhausted');
    expect(db?.why?.next.join()).to.contain('espalier installations reconcile shop -n proj');
    expect(web).not.to.have.property('why');
  });

  it('contains the data flow with names only', async () => {
    const { get } = await serve();
    const flow = await get<Flow>('/api/landscapes/proj/shop/flow');
    expect(flow.nodes.map(({ label }) => label)).to.deep.equal(['database', 'web']);
    expect(flow.edges).to.deep.equal([
      { from: 'Installation/proj/db', to: 'Installation/proj/web', names: ['data/db-url'] },
    ]);
    expect(await get<Flow>('/api/flow')).to.deep.include({ nodes: [], unconnected: 1 });
  });

  it('lists what a deletion deletes', async () => {
    const { get } = await serve();
    const deletion = await get<Deletion>('/api/landscapes/proj/shop/deletion');
    expect(deletion.uid).to.equal('uid-shop');
    expect(deletion.parts).to.have.length(5);
    expect(deletion.objects).to.deep.equal([{ kind: 'Deployment', name: 'apps/web' }]);
  });

  it('names the landscape that does not exist', async () => {
    const { server, cookie } = await serve();
    for (const path of ['', '/flow', '/deletion']) {
      const answer = await ask(server, cookie, { url: `/api/landscapes/proj/nothing${path}` });
      expect(answer.statusCode, path).to.equal(404);
      expect(answer.body, path).to.contain('there is no root installation nothing in namespace proj');
    }
  });

  it('contains no values from deploy items, executions and installations', async () => {
    const config = { apiVersion: 'x/v1', kind: 'C', password: SECRET };
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': SECRET };
    const root = installation('shop', { phase: 'Succeeded', spec: { importDataMappings: { a: SECRET } } });
    const objects = {
      installations: [slimInstallation({ ...root, metadata: { ...root.metadata, annotations } })],
      executions: [
        slimExecution({
          ...execution('shop', { phase: 'Succeeded' }),
          spec: { deployItems: [{ name: 'i', type: 't', config }] },
        }),
      ],
      deployItems: [
        slimDeployItem(
          withStatus(item('i', { execution: 'shop', phase: 'Succeeded', spec: { config } }), {
            providerStatus: { managedResources: [managed('Secret', 'web')], values: SECRET },
          }),
        ),
      ],
    };
    expect(JSON.stringify(objects)).not.to.contain(SECRET);
    const { server, sessions } = consoleOf(objects);
    const { body } = await ask(server, cookieOf(sessions), { url: '/api/landscapes/proj/shop' });
    expect(body).to.contain('Secret web').and.not.contain(SECRET);
  });

  it('answers unknown paths with the page, and unknown data with an error', async () => {
    const { server, cookie } = await serve();
    for (const url of ['/landscapes/proj/shop/jobs?job=2', '/flow', '/unknown'])
      expect((await ask(server, cookie, { url })).body, url).to.contain('<title>Espalier</title>');
    const answer = await ask(server, cookie, { url: '/api/unknown' });
    expect(answer.statusCode).to.equal(404);
    expect(answer.json()).to.deep.equal({ error: 'there is no GET /api/unknown' });
  });
});

describe('the events of a landscape', () => {
  const event = (name: string, uid: string, more: object = {}) => ({
    metadata: { name, namespace: 'proj' },
    involvedObject: { kind: 'Installation', name: uid.replace('uid-', ''), uid },
    ...more,
  });
  const listing = (...items: readonly object[]) => ({
    list: async function* () {
      yield { items };
    } as unknown as Client['list'],
  });

  it('are those of its objects, the latest first', async () => {
    const { get } = await serve(
      listing(
        event('a', 'uid-shop', { lastTimestamp: '2026-01-01T00:00:00Z', reason: 'Old', count: 3 }),
        event('b', 'uid-db', { lastTimestamp: '2026-01-02T00:00:00Z', reason: 'New', type: 'Warning' }),
        event('c', 'uid-other', { reason: 'Foreign' }),
      ),
    );
    const { events, isComplete } = await get<EventList>('/api/landscapes/proj/shop/events');
    expect(isComplete).to.equal(true);
    expect(events).to.deep.equal([
      {
        part: 'Installation/proj/db',
        object: 'Installation db',
        type: 'Warning',
        reason: 'New',
        message: '',
        count: 1,
        time: Date.UTC(2026, 0, 2),
      },
      {
        part: 'Installation/proj/shop',
        object: 'Installation shop',
        type: '',
        reason: 'Old',
        message: '',
        count: 3,
        time: Date.UTC(2026, 0, 1),
      },
    ]);
  });

  it('are bounded, which the list says', async () => {
    const many = Array.from({ length: 600 }, (_, i) => event(`e-${String(i)}`, 'uid-shop'));
    const { get } = await serve(listing(...many));
    const { events, isComplete } = await get<EventList>('/api/landscapes/proj/shop/events');
    expect(events).to.have.length(500);
    expect(isComplete).to.equal(false);
  });

  it('need the right of the viewer to list events', async () => {
    const { server, cookie } = await serve({
      list: () =>
        failing(
          new ApiError({
            message: 'cannot list events in namespace proj: forbidden',
            status: 403,
            reason: 'Forbidden',
            ref: { verb: 'list', kind: 'Event' },
          }),
        ),
    });
    const answer = await ask(server, cookie, { url: '/api/landscapes/proj/shop/events' });
    expect(answer.statusCode).to.equal(403);
    expect(answer.body).to.contain('cannot list events in namespace proj');
  });
});

/** Pages of which the first cannot be read. */
const failing = (error: Error): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
});

describe('actions of the console', () => {
  const act = async (action: string, client: Partial<Client>) => {
    const { server, cookie } = await serve(client);
    const url = '/api/landscapes/proj/shop/actions';
    return ask(server, cookie, { method: 'POST', url, payload: { action, uid: 'uid-shop' } });
  };

  const recorder = () => {
    const writes: Write[] = [];
    const send = ((write: Write) => {
      writes.push(write);
      return Promise.resolve({});
    }) as unknown as Client['send'];
    return { writes, client: { send } };
  };

  for (const action of ['reconcile', 'interrupt'])
    it(`annotate the installation the user saw, for ${action}`, async () => {
      const { writes, client } = recorder();
      expect((await act(action, client)).statusCode).to.equal(204);
      expect(writes).to.have.length(1);
      expect(writes[0]).to.deep.include({
        verb: 'merge',
        key: 'proj/shop',
        body: {
          metadata: { uid: 'uid-shop', annotations: { 'landscaper.gardener.cloud/operation': action } },
        },
      });
    });

  for (const [action, value] of [
    ['suspend', 'true'],
    ['resume', null],
  ] as const)
    it(`change the annotation that holds jobs back, for ${action}`, async () => {
      const { writes, client } = recorder();
      expect((await act(action, client)).statusCode).to.equal(204);
      expect(writes[0]).to.deep.include({
        verb: 'merge',
        body: { metadata: { uid: 'uid-shop', annotations: { 'espalier.dev/suspended': value } } },
      });
    });

  it('delete only the installation the user saw', async () => {
    const { writes, client } = recorder();
    expect((await act('delete', client)).statusCode).to.equal(204);
    expect(writes[0]).to.deep.include({ verb: 'delete', key: 'proj/shop', uid: 'uid-shop' });
  });

  it('are refused if they are unknown', async () => {
    const { writes, client } = recorder();
    expect((await act('drop', client)).statusCode).to.equal(400);
    expect(writes).to.deep.equal([]);
  });

  it('report the refusal of the API server', async () => {
    const send = () =>
      Promise.reject(
        new ApiError({
          message: 'cannot patch installation proj/shop: forbidden',
          status: 403,
          reason: 'Forbidden',
          ref: { verb: 'patch', kind: 'Installation' },
        }),
      );
    const answer = await act('reconcile', { send });
    expect(answer.statusCode).to.equal(403);
    expect(answer.body).to.contain('cannot patch installation proj/shop: forbidden');
  });

  it('depend on the rights of the user', async () => {
    const raw = (_: string, __: string, body: unknown) => {
      const { spec } = body as { spec: { resourceAttributes: { verb: string; namespace: string } } };
      expect(spec.resourceAttributes.namespace).to.equal('proj');
      return Promise.resolve({ status: { allowed: spec.resourceAttributes.verb === 'patch' } });
    };
    const { get } = await serve({ raw });
    expect(await get('/api/landscapes/proj/shop/rights')).to.deep.equal({
      reconcile: true,
      interrupt: true,
      suspend: true,
      resume: true,
      delete: false,
    });
  });
});
