import { expect } from 'chai';
import { contextController, type ContextPorts } from '../../../controllers/context/index.ts';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { namespaceKind } from '../../../src/landscape/world.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import { stage, type Stage } from './support/stage.ts';

const repositoryContext = { type: 'OCIRegistry', baseUrl: 'registry.example' };

describe('the context controller', () => {
  let on: Stage;
  afterEach(() => on.end());

  async function started(options: Omit<ContextPorts, 'world'> = {}, before?: (on: Stage) => void) {
    on = stage(({ world }) => contextController({ world, ...options }));
    before?.(on);
    await on.start();
    return on.client;
  }
  const namespace = (name: string, more: object = {}) =>
    on.client.put(namespaceKind, { metadata: { name, ...more } });
  const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['kubernetes'] };
  const context = (ns: string, more: object = {}) =>
    on.client.put(contextKind, { metadata: { name: 'default', namespace: ns }, ...more });
  const stored = (ns: string) => on.client.read(contextKind, `${ns}/default`);

  it('creates a Context named default in every namespace, also in those created later', async () => {
    const client = await started({}, () => namespace('a'));
    namespace('b');
    await on.settle();
    expect(client.changes).to.deep.equal(['create Context a/default', 'create Context b/default']);
    expect(stored('a')).to.include({ apiVersion: API_VERSION, kind: 'Context' });
    expect(stored('a')).not.to.have.property('repositoryContext');
  });

  it('creates none in namespaces that are excluded or being deleted', async () => {
    const client = await started({ excludedNamespaces: ['kube-system'] }, () => {
      namespace('kube-system');
      namespace('leaving', leaving);
    });
    client.edit(namespaceKind, 'kube-system', { metadata: { labels: { x: 'y' } } });
    await on.settle();
    expect(client.changes).to.deep.equal([]);
    expect(on.runs).to.deep.equal([]);
  });

  it('creates none in a namespace whose deletion starts before the reconcile', async () => {
    const client = await started({ workers: 1 }, () => {
      namespace('a');
      namespace('b', { finalizers: ['kubernetes'] });
      on.client.before = ({ key }) => {
        if (key === 'a/default') on.client.remove(namespaceKind, 'b');
        return undefined;
      };
    });
    await on.clock.advance(10_000);
    expect(client.changes).to.deep.equal(['create Context a/default']);
    expect(on.runs).to.deep.equal(['a', 'b']);
  });

  it('creates one again when it is deleted, and no others', async () => {
    const client = await started({}, () => {
      namespace('a');
      on.client.put(contextKind, { metadata: { name: 'other', namespace: 'a' } });
    });
    client.remove(contextKind, 'a/default');
    client.remove(contextKind, 'a/other');
    await on.settle();
    expect(client.changes).to.deep.equal(['create Context a/default', 'create Context a/default']);
    expect(on.runs).to.deep.equal(['a', 'a']);
  });

  it('restores its repository context when that is changed', async () => {
    const client = await started({ repositoryContext }, () => namespace('a'));
    client.edit(contextKind, 'a/default', { repositoryContext: { baseUrl: 'other.example' } });
    await on.settle();
    expect(stored('a')).to.deep.include({ repositoryContext });
  });

  it('does nothing when a namespace is being deleted, or gone', async () => {
    const client = await started({}, () => namespace('a', { finalizers: ['kubernetes'] }));
    client.remove(contextKind, 'a/default');
    client.remove(namespaceKind, 'a');
    await on.settle();
    client.edit(namespaceKind, 'a', { metadata: { finalizers: null } });
    await on.settle();
    expect(client.changes).to.deep.equal(['create Context a/default']);
  });

  it('writes the repository context of the configuration, and leaves other fields alone', async () => {
    const client = await started({ repositoryContext }, () => {
      namespace('new');
      namespace('old');
      namespace('right');
      context('old', { repositoryContext: { type: 'OCIRegistry', baseUrl: 'old' }, useOCM: true });
      context('right', { repositoryContext });
    });
    expect(client.changes).to.have.members(['create Context new/default', 'merge Context old/default']);
    expect(stored('new')).to.deep.include({ repositoryContext });
    expect(stored('old')).to.deep.include({ repositoryContext, useOCM: true });
    await on.clock.advance(10_000);
    expect(on.runs, 'no run failed').to.have.length(3);
  });

  it('leaves a Context alone if no repository context is configured', async () => {
    const client = await started({}, () => {
      namespace('a');
      context('a', { repositoryContext });
    });
    expect(client.changes).to.deep.equal([]);
  });

  it('retries if the Context was changed meanwhile', async () => {
    const client = await started({ repositoryContext }, () => {
      namespace('a');
      context('a');
      let isFirst = true;
      on.client.before = ({ verb }) => {
        if (verb === 'merge' && isFirst) on.client.edit(contextKind, 'a/default', { useOCM: true });
        isFirst &&= verb !== 'merge';
        return undefined;
      };
    });
    await on.clock.advance(2_000);
    expect(stored('a')).to.deep.include({ repositoryContext, useOCM: true });
    expect(client.changes).to.have.length(2);
  });

  const refusals = [
    ['another client was faster', 409, 'AlreadyExists', 'exists', 1],
    [
      'the namespace is being deleted',
      403,
      'Forbidden',
      'unable to create new content in namespace a because it is being terminated',
      1,
    ],
    ['the server rejects it temporarily', 503, 'ServiceUnavailable', 'busy', 2],
  ] as const;
  for (const [title, code, reason, message, tries] of refusals) {
    it(`${tries === 1 ? 'does not retry' : 'retries'} if ${title}`, async () => {
      const client = await started({}, () => {
        namespace('a');
        const refusal = apiErrorFrom(code, { reason, message }, { verb: 'create', kind: 'Context' });
        on.client.fault = ({ verb, kind }) => (verb === 'create' && kind === 'Context' ? refusal : undefined);
      });
      await on.clock.advance(900);
      expect(client.changes).to.have.length(tries);
    });
  }

  it('works on as many namespaces at a time as configured', () => {
    on = stage(({ world }) => contextController({ world }));
    const { world } = on;
    expect(contextController({ world, workers: 3 })).to.include({ name: 'context', maxConcurrent: 3 });
    expect(contextController({ world })).not.to.have.property('maxConcurrent');
  });
});
