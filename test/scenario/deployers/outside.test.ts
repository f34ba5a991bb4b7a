/** A third-party deployer, built on the SDK, on API servers and with a real web server. */
import { expect } from 'chai';
import { httpDeployer } from '../../../docs/samples/deployers/http/deployer.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { startDocumentStore, type DocumentStore } from '../../support/document-store.ts';
import { World } from './world.ts';

const DENIED = 403;
const BROKEN = 500;
const at = (path: string): object => ({
  apiVersion: 'http.example.org/v1',
  kind: 'ProviderConfiguration',
  path,
  document: { a: 1 },
});

describe('a third-party deployer on API servers', function () {
  this.timeout(60_000);
  let world: World;
  let store: DocumentStore;
  before(async () => {
    store = await startDocumentStore();
    world = await World.start(undefined, { others: [httpDeployer] });
    await world.giveTarget('store', { type: 'example.org/web-server', config: { endpoint: store.url } });
  });
  beforeEach(() => {
    store.refusal = undefined;
  });
  after(async () => {
    await world.stop();
    store.stop();
  });

  const give = (name: string): Promise<void> =>
    world.giveItem(name, httpDeployer.type, at(`/${name}`), { target: 'store' });

  it('DEP-95: creates, exports, moves and deletes a document', async () => {
    await give('one');
    const { status } = await world.run('one', 'j1');
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
    expect(await world.exported('one')).to.deep.equal({ etag: '"7"' });
    await world.configure('one', at('/two'));
    store.requests.length = 0;
    expect((await world.run('one', 'j2')).status?.phase).to.equal('Succeeded');
    expect(store.requests).to.deep.equal(['DELETE /one', 'PUT /two', 'HEAD /two']);
    expect([...store.documents.keys()]).to.deep.equal(['/two']);
    await world.remove('one');
    await world.kick('one', 'j3');
    await world.gone('one');
    expect([...store.documents.keys()]).to.deep.equal([]);
  });

  it('DEP-95: ends the job if the web server denies the request', async () => {
    store.refusal = DENIED;
    await give('denied');
    const { status } = await world.run('denied', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError?.codes).to.deep.equal(['ERR_UNAUTHORIZED']);
  });

  it('DEP-95: retries while the web server fails', async () => {
    store.refusal = BROKEN;
    await give('broken');
    await world.kick('broken', 'j1');
    expect(await world.problem('broken')).to.contain('answered 500');
    expect((await world.item('broken')).status?.phase).to.equal('Progressing');
    store.refusal = undefined;
    expect((await world.finished('broken', 'j1')).status?.phase).to.equal('Succeeded');
    const puts = store.requests.filter((request) => request === 'PUT /broken');
    expect(puts.length).to.be.at.least(2);
    expect(store.documents.has('/broken')).to.equal(true);
  });

  it('DEP-95: if it is killed between upload and result, the next process still deletes the document', async () => {
    await give('killed');
    const { faults } = world;
    faults.arm('proj', { what: 'crash-before', nth: 1, matches: () => store.documents.has('/killed') });
    await world.kick('killed', 'j1');
    await faults.struck('proj');
    expect((await world.item('killed')).status).to.include({ phase: 'Progressing' });
    // Its job is interrupted, and it is deleted before a deployer has reconciled it again.
    const status = { phase: 'Failed', jobIDFinished: 'j1' };
    await world.edit(world.host, API_VERSION, 'DeployItem', 'proj/killed', { status }, 'status');
    await world.remove('killed');
    await world.restart();
    expect(store.documents.has('/killed')).to.equal(true);
    await world.kick('killed', 'j2');
    await world.gone('killed');
    expect(store.documents.has('/killed')).to.equal(false);
  });
});
