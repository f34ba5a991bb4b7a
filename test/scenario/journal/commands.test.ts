/** The commands that read records of jobs, and the one that brings an earlier job back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { defaultJournal } from '../../../src/api/journal.ts';
import { jobRecordKind } from '../../../src/api/kinds/jobrecord.ts';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { ensureCrds } from '../../../src/landscape/ensure-crds.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { startCluster, startControllers, type Cluster, type Controllers } from '../../support/cluster.ts';
import { child, mockItem, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

describe('records of jobs on the command line', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  let controllers: Controllers;
  let scene: Scene;
  let folder: string;

  const espalier = async (...args: readonly string[]) => {
    const terminal = fakeTerminal();
    const kubeconfig = ['--kubeconfig', join(folder, 'kubeconfig')];
    const code = await runProgram([...args, '-n', scene.ns, ...kubeconfig], terminal);
    return { code, output: terminal.output, errors: terminal.errors };
  };
  const recorded = async (count: number): Promise<void> => {
    for (;;) {
      let found = 0;
      for await (const { items } of cluster.client.list(jobRecordKind, { namespace: scene.ns }))
        found += items.length;
      if (found >= count) return;
      cluster.clock.advance(500);
    }
  };

  before(async () => {
    cluster = await startCluster();
    folder = mkdtempSync(join(tmpdir(), 'espalier-jobs-'));
    writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig, { mode: 0o600 });
    await ensureCrds(cluster.client, systemClock, silentLogger, { hasJournal: true });
    controllers = await startControllers(cluster, { config: { journal: defaultJournal } });
    scene = await cluster.scene();
    await scene.create(root('web', { children: [child('db', { items: [mockItem('app')] })] }));
    await scene.finished('web', 'Succeeded');
    await recorded(1);
    await scene.patch(installationKind, 'web', { spec: { optimization: { hasNoSiblingExports: true } } });
    await scene.again('web', 'Succeeded');
    await recorded(2);
  });
  after(async () => {
    await controllers.stop();
    await cluster.stop();
    rmSync(folder, { recursive: true });
  });

  it('list the jobs of a root, the last one first', async () => {
    const { code, output } = await espalier('jobs', 'list', 'web');
    expect(code).to.equal(0);
    expect(output).to.match(/^ROOT +JOB +RESULT +REQUESTED BY/);
    expect(output.split('\n')[1]).to.match(/^web +2 +Succeeded .* spec$/);
    expect(output.split('\n')[2]).to.match(/^web +1 +Succeeded .* first job$/);
  });

  it('show one job with its parts, and when each of them worked', async () => {
    expect((await espalier('jobs', 'show', 'web', '1')).output)
      .to.contain('Succeeded')
      .and.contain('db')
      .and.contain('app');
    expect((await espalier('jobs', 'timeline', 'web')).output).to.contain('app');
  });

  it('show the differences between two jobs', async () => {
    const { output } = await espalier('jobs', 'diff', 'web', '1', '2');
    expect(output).to.contain('+ spec.optimization: {"hasNoSiblingExports":true}');
  });

  it('export records as JSON', async () => {
    const { output } = await espalier('jobs', 'list', 'web', '-o', 'json');
    const numbers = JSON.stringify(JSON.parse(output)).match(/"number":\d/g);
    expect(numbers).to.have.members(['"number":1', '"number":2']);
  });

  it('list the names of records, and more columns', async () => {
    const { output } = await espalier('jobs', 'list', 'web', '-o', 'name');
    expect(output).to.match(/^(jobrecord\.espalier\.dev\/\S+\n){2}$/);
    const wide = (await espalier('jobs', 'list', 'web', '-o', 'wide')).output.split('\n');
    expect(wide[0]).to.match(/CHANGED +ID +BLUEPRINT +PARTS +ERROR$/);
    expect(wide[1]).to.match(/ spec +\S{36} /);
  });

  it('name the jobs that exist if the number is wrong', async () => {
    const { code, errors } = await espalier('jobs', 'show', 'web', '7');
    expect(code).to.equal(1);
    expect(errors).to.match(/^error: .*7.*\b1\b.*\b2\b/s);
  });

  it('say how to switch the journal on if the API server does not know its kind', async () => {
    const other = await startApiServer({ listen: { tls: false } });
    const file = join(folder, 'other');
    writeFileSync(file, other.kubeconfig, { mode: 0o600 });
    const terminal = fakeTerminal();
    expect(await runProgram(['jobs', 'list', '--kubeconfig', file], terminal)).to.equal(1);
    expect(terminal.errors).to.contain('set journal.enabled: true');
    await other.close();
  });

  it('restore the spec of a job, after showing the changes', async () => {
    const dry = await espalier('inst', 'rollback', 'web', '--to', '1', '--dry-run');
    expect([dry.code, dry.errors]).to.deep.equal([0, '']);
    expect(dry.output).to.contain('- spec.optimization: {"hasNoSiblingExports":true}');
    expect(scene.installation('web')?.spec.optimization).to.deep.equal({ hasNoSiblingExports: true });
    const unasked = await espalier('inst', 'rollback', 'web', '--to', '1');
    expect(unasked.code).to.equal(2);
    expect(unasked.errors).to.contain('add --yes');
    expect((await espalier('inst', 'rollback', 'web', '--to', '1', '--yes', '--wait')).code).to.equal(0);
    expect(scene.installation('web')?.spec.optimization).to.equal(undefined);
  });
  it('restore it so that apply still owns it: the same file is applied again, without a conflict', async () => {
    const { apiVersion, kind, metadata, spec } = scene.installation('web') as Installation;
    const object = {
      apiVersion,
      kind,
      metadata: { name: metadata.name, namespace: scene.ns },
      spec: { ...spec, optimization: { hasNoSiblingImports: true } },
    };
    const file = join(folder, 'web.json');
    writeFileSync(file, JSON.stringify(object));
    const optimization = () =>
      cluster.client.get(installationKind, `${scene.ns}/web`).then((stored) => stored.spec.optimization);

    const first = await espalier('apply', file, '--force-conflicts');
    expect(first.code).to.equal(0);
    await scene.again('web', 'Succeeded');
    const back = await espalier('inst', 'rollback', 'web', '--to', '2', '--yes', '--wait');
    expect([back.code, back.errors]).to.deep.equal([0, '']);
    expect(await optimization()).to.deep.equal({ hasNoSiblingExports: true });

    const again = await espalier('apply', file);
    expect([again.code, again.output]).to.deep.equal([0, 'installation/web configured\n']);
    expect(await optimization()).to.deep.equal({ hasNoSiblingImports: true });
  });
});
