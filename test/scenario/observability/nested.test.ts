/** Objects that are nested more deeply than functions can follow. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isRealServer, startCluster } from '../../support/cluster.ts';
import { dataObject } from '../../support/landscape.ts';
import { nested } from '../../support/nested.ts';
import { skip } from '../../support/skip.ts';
import { wireClient } from '../../support/wire-client.ts';

describe('the embedded API server', () => {
  it('refuses an object that is nested too deeply, and says how deep it may be', async function () {
    if (isRealServer()) return skip(this, 'a real server stores what is nested more deeply');
    const cluster = await startCluster();
    const folder = mkdtempSync(join(tmpdir(), 'espalier-nested-'));
    try {
      const file = join(folder, 'kubeconfig');
      writeFileSync(file, cluster.kubeconfig);
      const wire = wireClient(file);
      const path = '/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/dataobjects';
      const create = (name: string, levels: number) =>
        wire.call('POST', path, { body: dataObject(name, nested(levels)) });
      expect((await create('high', 1000)).status).to.equal(201);
      const { status, body } = await create('higher', 4000);
      expect([status, body['reason']]).to.deep.equal([400, 'BadRequest']);
      expect(body['message']).to.contain('up to 1000 levels');
      await wire.close();
    } finally {
      await cluster.stop();
      rmSync(folder, { recursive: true });
    }
  });
});
