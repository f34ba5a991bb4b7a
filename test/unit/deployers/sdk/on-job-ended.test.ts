/** How a plugin is informed of the end of an item's job, and which events trigger other items. */
import { expect } from 'chai';
import { done, wait, type DeployerPlugin } from '../../../../deployers/sdk/index.ts';
import { passthrough } from '../../../../deployers/sdk/codec.ts';
import { CONFIG_MAP } from '../../../../deployers/container/kinds.ts';
import { Bench } from '../bench.ts';

const TYPE = 'example.org/worker';

describe('the end of a job', () => {
  const calls: string[] = [];
  let failures = 0;
  let answer: 'done' | 'wait' = 'done';
  const plugin: DeployerPlugin = {
    type: TYPE,
    name: 'worker.example.org',
    version: '1',
    config: passthrough,
    watches: (caches) => [
      { cache: caches.of(CONFIG_MAP), toItems: ({ metadata }) => [`proj/${metadata.name}`] },
    ],
    apply: () => {
      calls.push('apply');
      return Promise.resolve(answer === 'done' ? done() : wait({ requeueAfterMs: 3_600_000 }));
    },
    remove: () => Promise.resolve(done()),
    onJobEnded: ({ status }) => {
      calls.push(`over ${status?.jobIDFinished ?? ''}`);
      return failures-- > 0 ? Promise.reject(new Error('no answer')) : Promise.resolve();
    },
  };
  const bench = (): Bench => {
    const b = new Bench(plugin);
    b.giveItem({}, { type: TYPE, target: null, timeout: '10m' });
    return b;
  };
  const touch = (b: Bench, text: string): void => {
    b.host.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'web', namespace: 'proj' },
      data: { text },
    });
  };
  beforeEach(() => {
    calls.length = 0;
    failures = 0;
    answer = 'done';
  });

  it('is passed to the plugin after it is stored', async () => {
    const b = bench();
    await b.kick('j1');
    expect(calls).to.deep.equal(['apply', 'over j1']);
  });

  it('is passed to the plugin if another client has ended it', async () => {
    answer = 'wait';
    const b = bench();
    await b.kick('j1');
    b.host.edit('DeployItem', 'proj/web', { status: { phase: 'Failed', jobIDFinished: 'j1' } });
    await b.rest();
    expect(calls).to.deep.equal(['apply', 'over j1']);
  });

  it('is passed to the plugin again until it has handled it, and the end of the job stays the same', async () => {
    failures = 2;
    const b = bench();
    await b.kick('j1');
    const ended = b.status();
    await b.pass(60_000);
    expect(calls).to.deep.equal(['apply', 'over j1', 'over j1', 'over j1']);
    expect(b.status()).to.deep.equal(ended);
  });

  it('can be triggered by a watched resource', async () => {
    answer = 'wait';
    const b = bench();
    await b.kick('j1');
    answer = 'done';
    touch(b, 'a');
    await b.rest();
    expect(b.status().phase).to.equal('Succeeded');
    touch(b, 'b');
    await b.rest();
    expect(calls).to.deep.equal(['apply', 'apply', 'over j1', 'over j1']);
  });
});
