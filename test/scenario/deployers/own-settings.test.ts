/** Deployers of one process with settings of their own, from their configuration files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { withDeployerFiles } from '../../../src/cli/configuration/deployer-files.ts';
import { useCluster } from '../../support/cluster.ts';
import { mockItem, root } from '../../support/landscape.ts';

describe('a deployer with a configuration file of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-own-settings-'));
  const file = join(folder, 'mock.yaml');
  writeFileSync(
    file,
    'apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1\nkind: Configuration\nidentity: mock-of-the-file\n',
  );
  const config = withDeployerFiles(defaults, [file], { warn: () => undefined });
  const here = useCluster({ config });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('handles items with the identity of the file', async () => {
    const scene = await here.scene();
    await scene.create(root('web', { items: [mockItem('app')] }));
    await scene.finished('web', 'Succeeded');
    expect(scene.item('web', 'app')?.status?.deployer).to.include({ identity: 'mock-of-the-file' });
  });
});
