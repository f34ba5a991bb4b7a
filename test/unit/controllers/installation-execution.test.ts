import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ensureExecution } from '../../../controllers/installation/execution.ts';
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
function written(
  spec: Execution['spec'],
  limits = defaultLimits,
  wanted: readonly DeployItemTemplate[] = items,
): Execution['spec'] | undefined {
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
  const [effect] = ensureExecution({ self: installation('shop'), execution, limits }, wanted).effects;
  return effect?.do === 'patch' ? (effect.body as unknown as Execution).spec : undefined;
}

describe('the execution of an installation', () => {
  it('is compared by the limits of the configuration', () => {
    const larger = { ...defaultLimits, deployItems: 1 };
    expect(written(writeDeployItems(items), larger)).to.equal(undefined);
    expect(written(writeDeployItems(items), { ...larger, deployItems: 0 })).to.not.equal(undefined);
  });

  it('is left alone if it has the items', () => {
    expect(written(writeDeployItems(items))).to.equal(undefined);
  });

  const large = [{ ...items[0]!, config: { text: 'x'.repeat(1 << 20) } }];

  it('is left alone if it has a large list as we have compressed it', () => {
    expect(written(writeDeployItems(large), defaultLimits, large)).to.equal(undefined);
  });

  it('gets a large list as we compress it if it has another one, or the same one compressed by others', () => {
    const foreign = gzipSync(JSON.stringify(large), { level: 1 }).toString('base64');
    const spec = written({ deployItemsCompressed: foreign }, defaultLimits, large) ?? {};
    expect(spec.deployItemsCompressed).to.equal(writeDeployItems(large).deployItemsCompressed);
  });

  for (const [title, deployItemsCompressed] of [
    ['is damaged', pack('[')],
    ['has too many items', pack(`[${Array(10_001).fill('{}').join(',')}]`)],
    ['unpacks to too many bytes', pack(' '.repeat((16 << 20) + 1))],
  ] as const) {
    it(`gets the items again if its list ${title}`, () => {
      expect(readDeployItems(written({ deployItemsCompressed }) ?? {})).to.deep.equal(items);
    });
  }
});
