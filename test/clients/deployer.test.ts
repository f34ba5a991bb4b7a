/** The sample of a deployer in Go passes the conformance suite. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkDeployer, readSubject } from '../../deployers/testing/index.ts';
import { fileDeployer } from '../../hack/go-clients/programs.ts';
import { findGoModule } from '../../hack/go/module.ts';
import { startCluster, type Cluster } from '../support/cluster.ts';
import { failuresOfProgram, PATIENCE_MS } from '../support/conformance.ts';
import { leftOut } from '../support/skip.ts';
import { Program } from './program.ts';

const path = findGoModule(fileDeployer);

if (path === undefined)
  leftOut('the deployer in Go', 'the deployer in Go is not built; make test-clients does');
else
  describe('the deployer in Go', function () {
    this.timeout(60_000);
    let cluster: Cluster;
    let folder: string;
    let deployer: Program;
    before(async () => {
      cluster = await startCluster();
      folder = mkdtempSync(join(tmpdir(), 'espalier-file-deployer-'));
      const KUBECONFIG = join(folder, 'kubeconfig');
      writeFileSync(KUBECONFIG, cluster.kubeconfig, { mode: 0o600 });
      deployer = new Program(path, ['--folder', folder], { KUBECONFIG });
    });
    after(async () => {
      await deployer.kill();
      await cluster.stop();
      rmSync(folder, { recursive: true });
    });

    it('passes the conformance suite', async () => {
      const file = join(fileDeployer.folder, 'subject.yaml');
      const subject = readSubject(readFileSync(file, 'utf8'), file);
      const options = {
        kubeconfig: cluster.kubeconfig,
        patienceMs: PATIENCE_MS,
        command: [path, '--folder', folder],
      };
      expect(failuresOfProgram(await checkDeployer(subject, options))).to.deep.equal([]);
    });
  });
