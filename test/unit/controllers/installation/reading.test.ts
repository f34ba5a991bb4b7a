/** What an installation reads: its relatives, its imports and exports, and the state of its executions. */
import { expect } from 'chai';
import { cachedImports, exportsOf } from '../../../../controllers/installation/cached-objects.ts';
import { readImports } from '../../../../controllers/installation/gather/read-imports.ts';
import {
  childrenOf,
  executionOf,
  isOwnedBy,
  ownExecution as owned,
  parentOf,
  exportersFor,
  importersFrom,
  connectedSiblings,
} from '../../../../controllers/installation/related-objects.ts';
import { StateSecrets } from '../../../../controllers/installation/gather/state-secrets.ts';
import { labels } from '../../../../src/api/labels.ts';
import { installationContext } from '../../../../src/dataflow/scope.ts';
import { PhaseError } from '../../../../src/machine/decision.ts';
import type { Client, Obj, View } from '../../../../src/runtime/types.ts';
import { child, execution, installation } from '../../../support/given.ts';
import { worldOf } from '../../../support/static-world.ts';
import type { Inst } from '../../../../controllers/installation/related-objects.ts';
import { dataObject, ownExecution, self, target, trading } from './given.ts';
import { server } from './server.ts';

const namesOf = (objects: readonly View<Obj>[]) => objects.map(({ metadata: { name } }) => name);
const elsewhere = <T extends Obj>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace: 'other' },
});
const placeless = <T extends Obj>({ metadata: { namespace: _, ...metadata }, ...rest }: T): T =>
  ({ ...rest, metadata }) as T;

const core = (kind: string, name: string, data: Record<string, string>): Obj =>
  ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'demo' }, data }) as Obj;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the relatives of an installation', () => {
  const parent = installation('p');
  const a = child('p', 'a');
  const b = child('p', 'b');
  const other = installation('other');
  const world = worldOf(parent, a, b, other, elsewhere(installation('far')), execution('p'));

  it('are its parent in its own namespace, if it has one', () => {
    expect(parentOf(world, a)).to.equal(parent);
    expect(parentOf(world, parent)).to.equal(undefined);
    expect(parentOf(world, elsewhere(a))).to.equal(undefined);
    expect(parentOf(world, placeless(a))).to.equal(undefined);
  });
  it('are its children, by owner', () => {
    expect(namesOf(childrenOf(world, parent))).to.deep.equal(['a-x', 'b-x']);
    expect(childrenOf(world, other)).to.deep.equal([]);
    const { uid: _, ...metadata } = parent.metadata;
    expect(childrenOf(world, { ...parent, metadata })).to.deep.equal([]);
  });
  it('are its execution, of the same name', () => {
    expect(executionOf(world, parent)?.metadata.name).to.equal('p');
    expect(executionOf(world, other)).to.equal(undefined);
  });
  it('exclude objects of other owners', () => {
    expect(owned({ self, execution: ownExecution() })).to.have.length(1);
    expect(owned({ self, execution: execution('stack') })).to.deep.equal([]);
    expect(owned({ self, execution: undefined })).to.deep.equal([]);
    const { ownerReferences: _, ...metadata } = ownExecution().metadata;
    expect(isOwnedBy({ ...ownExecution(), metadata }, self)).to.equal(false);
  });
});

describe('the siblings that an installation trades with', () => {
  const root = (name: string, takes: string[], gives: string[]): Inst =>
    installation(name, { spec: trading({ takes, gives }) });
  const below = (parent: string, name: string, takes: string[], gives: string[]): Inst => {
    const object = child(parent, name);
    return { ...object, spec: { ...object.spec, ...trading({ takes, gives }) } };
  };
  const inOther = (object: Inst): Inst => ({
    ...object,
    metadata: { ...object.metadata, namespace: 'other' },
  });
  /** Installations that a search for siblings reads. */
  const readBy = ({ ...world }: ReturnType<typeof worldOf>, of: Inst): number => {
    let read = 0;
    const byIndex = world.installations.byIndex.bind(world.installations);
    const installations = Object.create(world.installations) as typeof world.installations;
    installations.byIndex = (index, value) => {
      const found = byIndex(index, value);
      read += found.length;
      return found;
    };
    connectedSiblings({ ...world, installations }, of);
    return read;
  };
  const self = root('self', ['in'], ['out']);
  const direct = root('direct', ['far'], ['in']);
  const indirect = root('indirect', [], ['far']);
  const user = root('user', ['out'], ['more']);
  const stranger = root('stranger', ['more'], ['strange']);
  const world = worldOf(
    self,
    direct,
    indirect,
    user,
    stranger,
    inOther(direct),
    below('self', 'c', ['out'], ['in']),
  );

  it('are those that export what it imports, and those that import what it exports', () => {
    expect(namesOf(exportersFor(world, self))).to.deep.equal(['direct']);
    expect(namesOf(importersFrom(world, self))).to.deep.equal(['user']);
  });
  it('include those that it imports from through others, but not the importers of others', () => {
    expect(namesOf(connectedSiblings(world, self))).to.have.members(['direct', 'indirect', 'user']);
  });
  it('are named once in a cycle of imports, which ends', () => {
    const [a, b] = [root('a', ['y'], ['x']), root('b', ['x'], ['y'])];
    expect(namesOf(connectedSiblings(worldOf(a, b), a))).to.deep.equal(['b']);
  });
  it('do not include itself, even if it imports its own export', () => {
    const own = root('own', ['x'], ['x']);
    expect(connectedSiblings(worldOf(own), own)).to.deep.equal([]);
  });
  it('are children of the same parent below a root, and none without that parent', () => {
    const parent = installation('p');
    const [a, b, other] = [
      below('p', 'a', ['x'], []),
      below('p', 'b', [], ['x']),
      below('q', 'c', [], ['x']),
    ];
    const all = [a, b, other, root('r', [], ['x'])];
    expect(namesOf(exportersFor(worldOf(parent, ...all), a))).to.deep.equal(['b-x']);
    expect(exportersFor(worldOf(...all), a)).to.deep.equal([]);
  });
  it('do not make a lookup cost more when other installations are many', () => {
    const crowd = Array.from({ length: 500 }, (_, i) =>
      root(`other-${String(i)}`, [`i${String(i)}`], [`o${String(i)}`]),
    );
    const counted = worldOf(self, direct, user, ...crowd);
    expect(readBy(counted, self)).to.be.at.most(6);
    expect(readBy(counted, installation('without-imports-and-exports'))).to.equal(0);
  });
  it('are read once each, even if all of them import and export the same name', () => {
    const crowd = Array.from({ length: 300 }, (_, i) => root(`crowd-${String(i)}`, ['x'], ['x']));
    const world = worldOf(...crowd);
    expect(connectedSiblings(world, crowd[0]!)).to.have.lengthOf(299);
    expect(readBy(world, crowd[0]!)).to.be.at.most(2 * 300);
  });
  it('are found through a name that an installation without its parent imports as well', () => {
    const { metadata, ...stray } = below('gone', 'stray', ['y'], ['x']);
    const orphan = { ...stray, metadata: { ...metadata, ownerReferences: [] } };
    // The one that is read last is followed first.
    const siblings = [root('a', [], ['y']), root('b', ['y'], ['x']), orphan];
    const user = root('user', ['x'], []);
    expect(namesOf(connectedSiblings(worldOf(user, ...siblings), user))).to.include.members(['a', 'b']);
  });
});

describe('the caches for imports and exports', () => {
  const labelled = (name: string, of: Record<string, string>) => target(name, { labels: of });
  const world = worldOf(
    dataObject('d'),
    target('t'),
    labelled('both', { x: '1', y: '2' }),
    labelled('one', { x: '1' }),
    elsewhere(labelled('far', { x: '1', y: '2' })),
  );
  const lookups = cachedImports(world, 'demo');

  it('find data objects and targets of the namespace by name', () => {
    expect(lookups.dataObject('d')?.metadata.name).to.equal('d');
    expect(lookups.dataObject('t')).to.equal(undefined);
    expect(lookups.target('t')?.metadata.name).to.equal('t');
    expect(cachedImports(world, 'x').target('t')).to.equal(undefined);
  });
  it('find targets of the namespace by all of the labels', () => {
    const found = lookups.targetsBySelector({ import: 'i', labels: { x: '1', y: '2' } });
    expect(namesOf(found)).to.deep.equal(['both']);
  });

  it('name the objects of roots, and exports that other roots will write', () => {
    const empty = child('root', 'inner');
    const inner = { ...empty, spec: { ...empty.spec, ...trading({ gives: ['secret'] }) } };
    const found = cachedImports(
      worldOf(
        dataObject('mine'),
        dataObject('hashed', { labels: { [labels.dataContext]: 'Inst.stack' } }),
        installation('root', { spec: trading({ gives: ['url'] }) }),
        inner,
      ),
      'demo',
    );
    expect([...(found.rootNames?.('data') ?? [])]).to.have.members(['mine', 'url']);
    expect([...(found.rootNames?.('target') ?? [])]).to.deep.equal([]);
  });

  it('do not read the installations for such names if there are many', () => {
    const crowd = Array.from({ length: 1_001 }, (_, i) =>
      installation(`root-${String(i)}`, { spec: trading({ gives: [`url-${String(i)}`] }) }),
    );
    const all = worldOf(...crowd);
    all.installations.list = () => expect.fail('the installations were read');
    expect([...(cachedImports(all, 'demo').rootNames?.('data') ?? [])]).to.deep.equal([]);
  });

  it('read no object of other scopes, and no other object for a suggestion', () => {
    const copy = { [labels.dataContext]: 'Inst.stack', [labels.dataKey]: 'clusters' };
    const all = worldOf(
      target('copy', { labels: copy }),
      target('other', { labels: { ...copy, [labels.dataContext]: 'Inst.other' } }),
      dataObject('mine'),
    );
    for (const cache of [all.dataObjects, all.targets])
      cache.list = () => expect.fail(`all ${cache.name} were read`);
    const found = cachedImports(all, 'demo');
    expect(namesOf(found.targetsBySelector({ import: 'i', labels: copy }))).to.deep.equal(['copy']);
    all.dataObjects.get = () => expect.fail('objects were read for their names');
    expect([...(found.rootNames?.('data') ?? [])]).to.deep.equal(['mine']);
  });

  const written = (type: string, writer = 'stack') => ({
    labels: { [labels.dataSource]: installationContext(writer), [labels.dataSourceType]: type },
  });
  it('find exports of an installation, but not its imports or objects of others', () => {
    const objects = [
      dataObject('out', written('export')),
      target('out', written('export')),
      dataObject('in', written('import')),
      target('theirs', written('export', 'other')),
      elsewhere(dataObject('far', written('export'))),
    ];
    expect(exportsOf(worldOf(...objects), self).map((o) => `${o.kind} ${o.metadata.name}`)).to.deep.equal([
      'DataObject out',
      'Target out',
    ]);
    expect(namesOf(exportsOf(worldOf(...objects.map(placeless)), placeless(self)))).to.include('out');
  });
});

describe('the imports of an installation', () => {
  const importing = (imports: object) => installation('stack', { spec: { imports } });
  const data = (...names: string[]) => names.map((name) => ({ name, dataRef: name }));
  const read = async (imports: object, there: readonly Obj[], ...objects: readonly View<Obj>[]) => {
    const { asked, most, client } = server(...there);
    const found = await readImports(importing(imports), worldOf(...objects), client);
    return { asked, most, ...found };
  };

  it('need no request if the caches have them', async () => {
    const targets = [{ name: 't', target: 't' }];
    const { asked, missing, imports } = await read(
      { data: data('a'), targets },
      [],
      dataObject('a'),
      target('t'),
    );
    expect(asked).to.deep.equal([]);
    expect(missing).to.deep.equal([]);
    expect(imports.data.get('a')?.value).to.equal(1);
    expect(imports.targets.get('t')?.metadata.name).to.equal('t');
  });
  it('are requested if a cache may be behind, each once, and only missing ones', async () => {
    const targets = [
      { name: 't', target: 't' },
      { name: 'u', target: 'u' },
    ];
    const { asked, missing, imports } = await read(
      { data: data('a', 'b'), targets },
      [dataObject('b', {}, 2), target('u')],
      dataObject('a'),
      target('t'),
    );
    expect(asked).to.deep.equal(['DataObject demo/b', 'Target demo/u']);
    expect(missing).to.deep.equal([]);
    expect([...imports.data.values()].map(({ value }) => value)).to.deep.equal([1, 2]);
    expect([...imports.targets.keys()]).to.deep.equal(['t', 'u']);
  });
  it('are missing if the server has none', async () => {
    const { missing } = await read({ data: data('a'), targets: [{ name: 't', target: 't' }] }, []);
    expect(missing.map(({ import: name }) => name)).to.deep.equal(['a', 't']);
  });
  it('come from secrets and config maps by a request', async () => {
    const { asked, missing, imports } = await read(
      {
        data: [
          { name: 's', secretRef: { name: 'sec', key: 'k' } },
          { name: 'c', configMapRef: { name: 'cm', key: 'k' } },
        ],
      },
      [core('Secret', 'sec', { k: base64('one') }), core('ConfigMap', 'cm', { k: 'two' })],
    );
    expect(asked).to.deep.equal(['Secret demo/sec', 'ConfigMap demo/cm']);
    expect(missing).to.deep.equal([]);
    expect([...imports.data.values()].map(({ value }) => value)).to.deep.equal(['one', 'two']);
  });
  it('are found in the scope of the parent', async () => {
    const below = child('p', 'a');
    const self_ = { ...below, spec: { ...below.spec, imports: { data: data('a') } } };
    const { asked, client } = server();
    const { missing } = await readImports(self_, worldOf(dataObject('a')), client);
    expect(missing).to.have.length(1);
    expect(asked[0]).to.match(/^DataObject demo\/(?!a$)/);
  });
  it('are requested at most eight at a time', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `d${String(i)}`);
    const { most, asked } = await read({ data: data(...names) }, []);
    expect(asked).to.have.length(20);
    expect(most.open).to.equal(8);
  });
  it('are not read at all if there are too many', async () => {
    const names = Array.from({ length: 1001 }, (_, i) => `d${String(i)}`);
    const { asked, missing } = await read({ data: data(...names) }, []);
    expect(asked).to.deep.equal([]);
    expect(missing).to.have.length(1);
    expect(missing[0]?.message).to.contain('the limit is 1000');
  });

  const huge = 'x'.repeat(9 << 20);
  const refs = (kind: 'secretRef' | 'configMapRef', ...names: string[]) =>
    names.map((name) => ({ name, [kind]: { name, key: 'k' } }));
  it('are read until they are too large, whole secrets included', async () => {
    const secrets = ['a', 'b'].map((name) => core('Secret', name, { k: base64('x'), other: huge }));
    const { missing } = await read({ data: refs('secretRef', 'a', 'b') }, secrets);
    expect(missing[0]?.message).to.contain('more than 16 MiB');
  });
  it('are not requested any further then', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `s${String(i)}`);
    const other = 'x'.repeat(2.2 * 2 ** 20);
    const secrets = names.map((name) => core('Secret', name, { k: base64('x'), other }));
    const { asked } = await read({ data: refs('secretRef', ...names) }, secrets);
    expect(asked).to.have.length.below(names.length);
  });
  it('are too large also if the caches do not have them', async () => {
    const objects = ['a', 'b'].map((name) => dataObject(name, { annotations: { huge } }));
    const { missing } = await read({ data: data('a', 'b') }, objects);
    expect(missing[0]?.message).to.contain('more than 16 MiB');
  });
  it('fail with other errors of the server', async () => {
    const client = { get: () => Promise.reject(new Error('reset')) } as unknown as Client;
    const error: unknown = await readImports(importing({ data: data('a') }), worldOf(), client).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.have.property('message', 'reset');
  });
});

describe('the secrets with the state of executions', () => {
  const update = (secretName: string) => ({ secretName, state: {} });
  it('are read once in a reconcile, also if there is none', async () => {
    const { asked, client } = server(core('Secret', 'one', { config: base64('count: 1') }));
    const secrets = new StateSecrets(client, 'demo');
    const states = await secrets.states(['one', 'none']);
    expect(states.get('one')).to.deep.equal({ count: 1 });
    expect(states.get('none')).to.deep.equal({});
    const upserts = await secrets.upserts([update('one'), update('none')]);
    expect(upserts.map((u) => [u.update.secretName, u.existing?.metadata.name])).to.deep.equal([
      ['one', 'one'],
      ['none', undefined],
    ]);
    expect(asked).to.deep.equal(['Secret demo/one', 'Secret demo/none']);
  });
  it('end the job if they contain no document', async () => {
    const { client } = server(core('Secret', 'bad', { config: base64('{') }));
    const error: unknown = await new StateSecrets(client, 'demo').states(['bad']).catch((e: unknown) => e);
    if (!(error instanceof PhaseError)) throw error;
    expect(error.problem).to.deep.equal({
      operation: 'ReadState',
      reason: 'Template',
      message:
        'secret demo/bad should contain the state of an execution, but its key "config" is not valid YAML; correct it, or delete the secret to start without state',
      codes: [],
    });
    expect(error.cause).to.be.instanceOf(Error);
  });
  it('fail with any other error', async () => {
    const odd = core('Secret', 'odd', {});
    Object.defineProperty(odd, 'data', {
      get() {
        throw new RangeError('odd');
      },
    });
    const { client } = server(odd);
    const error: unknown = await new StateSecrets(client, 'demo').states(['odd']).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(RangeError);
  });
});
