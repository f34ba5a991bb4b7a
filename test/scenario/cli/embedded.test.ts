import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    first.announce();
    const before = readFileSync(kubeconfigFile, 'utf8');
    await first.close();
    const second = await start();
    expect(second.url).to.equal(first.url);
    expect(second.kubeconfigFile).to.equal(kubeconfigFile);
    second.announce();
    await second.close();
    expect(readFileSync(kubeconfigFile, 'utf8')).to.equal(before);
  });

  it('writes the requested kubeconfig when it is announced, and removes that of an earlier server', async () => {
    const kubeconfigFile = join(folder, 'requested.yaml');
    writeFileSync(kubeconfigFile, 'of an earlier server');
    const start = () => startEmbedded({ kubeconfigFile, simulate: false, log: silentLogger });
    const announced = await start();
    expect(existsSync(kubeconfigFile)).to.equal(false);
    announced.announce();
    expect(readFileSync(kubeconfigFile, 'utf8')).to.contain(announced.url);
    await announced.close();
    const ended = await start();
    await ended.close();
    expect(readdirSync(folder).filter((name) => name.startsWith('requested'))).to.deep.equal([]);
  });

  it('refuses at the start a kubeconfig file that cannot be written', async () => {
    const kubeconfigFile = join(folder, 'elsewhere.yaml', 'kubeconfig');
    const refused = startEmbedded({ kubeconfigFile, simulate: false, log: silentLogger });
    expect(String(await refused.catch((error: unknown) => error))).to.contain(
      'choose another file with --write-kubeconfig',
    );
  });
});
