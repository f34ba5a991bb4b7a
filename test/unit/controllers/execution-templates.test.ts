import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { templateReader } from '../../../controllers/execution/templates.ts';
import { UnreadableDeployItems, type Execution } from '../../../src/api/kinds/execution.ts';
import { labels } from '../../../src/api/labels.ts';
import { inThisThread, type RunnerOf } from '../../../src/blueprint/work.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { execution, template } from '../../support/given.ts';
import { outcome } from '../../support/outcome.ts';

const holding = (json: string): Execution => ({
  ...execution('plan'),
  spec: { context: 'default', deployItemsCompressed: gzipSync(json).toString('base64') },
});
const padding = 'x'.repeat(300 << 10);
const large = [template('a', { config: { padding } }), template('b', { dependsOn: ['a'] })];

/** A reader, and how often it delegates work to another process. */
function counting() {
  const here = inThisThread({ clock: systemClock, rng: seededRng(1) });
  const namespaces: string[] = [];
  const runnerOf: RunnerOf = (namespace) => ({
    ...here,
    unpackItems: (job) => {
      namespaces.push(namespace);
      return here.unpackItems(job);
    },
  });
  return { reader: templateReader(runnerOf), namespaces };
}

describe('the templates of an execution', () => {
  it('are read at once if they are small', async () => {
    const { reader, namespaces } = counting();
    const small = holding(JSON.stringify([template('a')]));
    expect(await reader.templates(small)).to.deep.equal([template('a')]);
    expect(await reader.refusal(small)).to.equal(undefined);
    expect(await reader.templates(execution('plain', { items: [template('a')] }))).to.have.length(1);
    expect(namespaces).to.deep.equal([]);
  });

  it('are read in another process if they are large, once for all reconciles', async () => {
    const { reader, namespaces } = counting();
    const self = holding(JSON.stringify(large));
    for (let pass = 0; pass < 3; pass++) {
      expect(await reader.refusal(self)).to.equal(undefined);
      expect(await reader.templates(self)).to.deep.equal(large);
    }
    expect(namespaces).to.deep.equal([self.metadata.namespace]);
    expect(await reader.templates(holding(JSON.stringify(large.slice(0, 1))))).to.have.length(1);
    expect(namespaces, 'another list').to.have.length(2);
  });

  it('are dropped from the cache if there are too many', async () => {
    const { reader, namespaces } = counting();
    const lists = Array.from({ length: 30 }, (_, i) =>
      holding(JSON.stringify([template(`a${String(i)}`, { config: { padding } })])),
    );
    for (const self of lists) await reader.templates(self);
    await reader.templates(lists[29]!);
    expect(namespaces, 'the last is kept').to.have.length(30);
    await reader.templates(lists[0]!);
    expect(namespaces, 'the first is not').to.have.length(31);
  });

  const refusals: readonly [string, () => string, string][] = [
    [
      'with too many items',
      () => `[${Array(200_000).fill('{}').join(',')}]`,
      'it holds 200000 deploy items; the limit is 10000',
    ],
    ['of too many bytes', () => ' '.repeat((16 << 20) + 1), 'it unpacks to more than 16 MiB'],
    ['that is invalid', () => `{"a":"${padding}"}`, 'expected array'],
  ];
  for (const [title, json, why] of refusals) {
    it(`are rejected once if they are a list ${title}`, async () => {
      const { reader, namespaces } = counting();
      const self = holding(json());
      for (let pass = 0; pass < 3; pass++) {
        expect(await reader.refusal(self)).to.contain(why);
        expect(await outcome(reader.templates(self))).to.throw(UnreadableDeployItems, why);
      }
      expect(namespaces).to.have.length(1);
    });
  }

  it('are rejected by validation, unless it is disabled', async () => {
    const { reader } = counting();
    const wrong = holding(JSON.stringify([...large, template('a')]));
    expect(await reader.refusal(wrong)).to.equal('spec.deployItems[2]: Duplicate value: "a"');
    const metadata = { ...wrong.metadata, labels: { [labels.skipValidation]: 'true' } };
    expect(await reader.refusal({ ...wrong, metadata })).to.equal(undefined);
  });
});
