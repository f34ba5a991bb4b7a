import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import {
  readDeployItems,
  UnreadableDeployItems,
  unpackedBytes,
  writeDeployItems,
  writeManyDeployItems,
  type DeployItemTemplate,
} from '../../../src/api/kinds/execution.ts';
import { defaultLimits } from '../../../src/api/limits.ts';

const item = (name: string): DeployItemTemplate => ({
  name,
  type: 'test.example/fake',
  config: { apiVersion: 'test.example/v1', kind: 'Cfg', text: 'Äpfel' },
  dependsOn: ['x'],
});
const pack = (text: string): string => gzipSync(text).toString('base64');

describe('the deploy items of an execution', () => {
  it('are stored compressed', () => {
    const { deployItemsCompressed = '', deployItems } = writeDeployItems([item('a'), item('b')]);
    expect(deployItems).to.equal(undefined);
    const json = gunzipSync(Buffer.from(deployItemsCompressed, 'base64')).toString('utf8');
    expect(JSON.parse(json)).to.deep.equal([item('a'), item('b')]);
  });

  it('are not stored at all if there are none', () => {
    expect(writeDeployItems([])).to.deep.equal({});
  });

  it('are the same after compression and decompression', () => {
    expect(readDeployItems(writeDeployItems([item('a')]))).to.deep.equal([item('a')]);
  });

  it('are compressed to the same bytes in both ways', async () => {
    const large = Array.from({ length: 400 }, (_, i) => ({
      ...item(`i${String(i)}`),
      config: { apiVersion: 'v1', kind: 'Cfg', text: `${String(i)} Äpfel `.repeat(200) },
    }));
    for (const items of [[], [item('a')], large])
      expect(await writeManyDeployItems(items)).to.deep.equal(writeDeployItems(items));
    expect(await unpackedBytes(large)).to.equal(Buffer.byteLength(JSON.stringify(large)));
  });

  it('let the event loop turn while a large list is compressed', async () => {
    const large = Array.from({ length: 4_000 }, (_, i) => ({
      ...item(`i${String(i)}`),
      config: { apiVersion: 'v1', kind: 'Cfg', text: String(Math.sin(i)).repeat(150) },
    }));
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    count();
    await writeManyDeployItems(large);
    isOver = true;
    expect(turns, 'turns of the event loop during 12 MiB').to.be.above(40);
  });

  it('keep unknown fields', () => {
    const fromTheFuture = { ...item('a'), future: { deep: [1] } };
    expect(readDeployItems(writeDeployItems([fromTheFuture]))).to.deep.equal([fromTheFuture]);
  });

  it('are read in uncompressed form, too', () => {
    expect(readDeployItems({ deployItems: [item('a')] })).to.deep.equal([item('a')]);
    expect(readDeployItems({ deployItems: [item('a')], deployItemsCompressed: '' })).to.deep.equal([
      item('a'),
    ]);
    expect(readDeployItems({})).to.deep.equal([]);
  });

  it('are taken from the compressed form if both exist', () => {
    expect(readDeployItems({ deployItems: [item('old')], ...writeDeployItems([item('new')]) })).to.deep.equal(
      [item('new')],
    );
  });

  it('may be a compressed null, which upstream writes for an empty list', () => {
    expect(readDeployItems({ deployItemsCompressed: pack('null') })).to.deep.equal([]);
  });

  const damaged: readonly (readonly [string, string])[] = [
    ['a string that is not gzip', Buffer.from('hello').toString('base64')],
    ['truncated gzip', pack(JSON.stringify([item('a')])).slice(0, 40)],
    ['invalid JSON', pack('[')],
    ['JSON that is not a list', pack('{}')],
    ['an item without name', pack('[{"type":"t","config":{}}]')],
  ];
  for (const [title, deployItemsCompressed] of damaged) {
    it(`are rejected if the compressed form contains ${title}`, () => {
      expect(() => readDeployItems({ deployItemsCompressed })).to.throw(
        UnreadableDeployItems,
        'spec.deployItemsCompressed cannot be read',
      );
    });
  }

  const refusal = (spec: Parameters<typeof readDeployItems>[0]): string => {
    try {
      readDeployItems(spec);
    } catch (error) {
      if (error instanceof UnreadableDeployItems) return error.message;
      throw error;
    }
    return 'none';
  };
  const times = (count: number, text: string): string => `[${Array(count).fill(text).join(',')}]`;

  it('may be 10000 in number', () => {
    const text = JSON.stringify(item('a'));
    expect(readDeployItems({ deployItemsCompressed: pack(times(10_000, text)) })).to.have.length(10_000);
  });

  it('are counted before they are validated', () => {
    expect(refusal({ deployItemsCompressed: pack(times(400_000, '{}')) })).to.equal(
      'spec.deployItemsCompressed cannot be read: it holds 400000 deploy items; the limit is 10000 for one execution: divide them among sub-installations, or raise limits.deployItems in the configuration',
    );
    expect(refusal({ deployItemsCompressed: pack(times(1_500_000, '{}')) })).to.equal(
      'spec.deployItemsCompressed cannot be read: the JSON holds more than 1000000 values, a fixed limit',
    );
    expect(refusal({ deployItems: Array(10_001).fill(item('a')) as DeployItemTemplate[] })).to.equal(
      'spec.deployItems cannot be read: it holds 10001 deploy items; the limit is 10000 for one execution: divide them among sub-installations, or raise limits.deployItems in the configuration',
    );
  });

  it('are counted and unpacked according to the limits of the configuration', () => {
    const limits = { ...defaultLimits, deployItems: 2, deployItemsMiB: 1 };
    const two = { deployItems: [item('a'), item('b')] };
    expect(readDeployItems(two, limits)).to.have.length(2);
    const three = { deployItems: [...two.deployItems, item('c')] };
    expect(() => readDeployItems(three, limits)).to.throw(
      UnreadableDeployItems,
      /the limit is 2 .* limits\.deployItems /,
    );
    const large = { deployItemsCompressed: pack(`[${' '.repeat(1 << 20)}]`) };
    expect(() => readDeployItems(large, limits)).to.throw(
      UnreadableDeployItems,
      /1 MiB.* limits\.deployItemsMiB /,
    );
  });

  it('unpack to at most 16 MiB', () => {
    const padded = (bytes: number): string => pack(`[${' '.repeat(bytes - 2)}]`);
    expect(readDeployItems({ deployItemsCompressed: padded(16 << 20) })).to.deep.equal([]);
    expect(refusal({ deployItemsCompressed: padded((16 << 20) + 1) })).to.equal(
      'spec.deployItemsCompressed cannot be read: ' +
        'it unpacks to more than 16 MiB, the limit for the deploy items of one execution: ' +
        'divide them among sub-installations, or raise limits.deployItemsMiB in the configuration',
    );
  });

  it('are rejected with at most 20 problems', () => {
    const message = refusal({ deployItemsCompressed: pack(times(5000, '{"type":"t","config":{}}')) });
    expect(message.split('✖')).to.have.length(21);
    expect(message).to.match(/\nOnly the first 20 findings are listed\.$/);
    expect(Buffer.byteLength(message)).to.be.at.most(8192);
  });
});
