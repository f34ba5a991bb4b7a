import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startEmbedded } from '../../../src/cli/composition/embedded.ts';
import { silentLogger } from '../../../src/observability/log.ts';

describe('the embedded server on a folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('keeps its port if the kubeconfig is written elsewhere', async () => {
    const kubeconfigFile = join(folder, 'elsewhere.yaml');
    const start = () =>
      startEmbedded({ data: join(folder, 'data'), kubeconfigFile, simulate: false, log: silentLogger });
    const first = await start();
    const before = readFileSync(kubeconfigFile, 'utf8');
    await first.close();
    const second = await start();
    expect(second.url).to.equal(first.url);
    expect(second.kubeconfigFile).to.equal(kubeconfigFile);
    await second.close();
    expect(readFileSync(kubeconfigFile, 'utf8')).to.equal(before);
  });
});
