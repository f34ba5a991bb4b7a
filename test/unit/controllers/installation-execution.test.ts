import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ensureExecution, itemsToStore } from '../../../controllers/installation/execution.ts';
import {
  readDeployItems,
  writeDeployItems,
  type DeployItemTemplate,
  type Execution,
} from '../../../src/api/kinds/execution.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { defaultLimits } from '../../../src/api/limits.ts';
import { installation } from '../dataflow/given.ts';

const items = [{ name: 'a', type: 'test.example/fake', config: {} }];
const pack = (text: string): string => gzipSync(text).toString('base64');

/** The writes to an execution with this list, for an installation that renders `wanted`. */
async function written(
  spec: Execution['spec'],
  limits = defaultLimits,
  wanted: readonly DeployItemTemplate[] = items,
): Promise<Execution['spec'] | undefined> {
  const execution = {
    apiVersion: API_VERSION,
    kind: 'Execution',
    metadata: {
      name: 'shop',
      namespace: 'demo',
      annotations: { 'landscaper.gardener.cloud/operation': 'x' },
    },
    spec: { context: 'default', ...spec },
  } as Execution;
  const toStore = await itemsToStore({ execution, limits }, wanted);
  const snapshot = { self: installation('shop'), execution, itemsToStore: toStore };
  const [effect] = ensureExecution(snapshot, wanted).effects;
  return effect?.do === 'patch' ? (effect.body as unknown as Execution).spec : undefined;
}

describe('the execution of an installation', () => {
  it('is compared by the limits of the configuration', async () => {
    const larger = { ...defaultLimits, deployItems: 1 };
    expect(await written(writeDeployItems(items), larger)).to.equal(undefined);
    expect(await written(writeDeployItems(items), { ...larger, deployItems: 0 })).to.not.equal(undefined);
  });

  it('is left alone if it has the items', async () => {
    expect(await written(writeDeployItems(items))).to.equal(undefined);
  });

  const large = [{ ...items[0]!, config: { text: 'x'.repeat(1 << 20) } }];

  it('is left alone if it has a large list as we have compressed it', async () => {
    expect(await written(writeDeployItems(large), defaultLimits, large)).to.equal(undefined);
  });

  it('gets a large list as we compress it if it has another one, or the same one compressed by others', async () => {
    const foreign = gzipSync(JSON.stringify(large), { level: 1 }).toString('base64');
    const spec = (await written({ deployItemsCompressed: foreign }, defaultLimits, large)) ?? {};
    expect(spec.deployItemsCompressed).to.equal(writeDeployItems(large).deployItemsCompressed);
  });

  for (const [title, deployItemsCompressed] of [
    ['is damaged', pack('[')],
    ['has too many items', pack(`[${Array(10_001).fill('{}').join(',')}]`)],
    ['unpacks to too many bytes', pack(' '.repeat((16 << 20) + 1))],
  ] as const) {
    it(`gets the items again if its list ${title}`, async () => {
      expect(readDeployItems((await written({ deployItemsCompressed })) ?? {})).to.deep.equal(items);
    });
  }
});
