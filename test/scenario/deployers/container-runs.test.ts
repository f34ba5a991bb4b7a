/** Images that really run: the init and wait programs as processes, and a shell command instead of the image. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { DEPLOY_ITEM } from '../../../deployers/sdk/kinds.ts';
import { POD } from '../../../deployers/container/kinds.ts';
import { FINALIZER } from '../../../src/api/labels.ts';
import { ContainerWorld, shell, type Room } from '../../support/containers.ts';
import type { Kubelet } from '../../support/kubelet.ts';
import { stopwatch } from '../../support/waiting.ts';
import { patience } from '../../support/patience.ts';

const CLEAN = 'container.deployer.landscaper.gardener.cloud/force-cleanup';

describe('the container deployer with a kubelet', function () {
  this.timeout(400_000);
  let world: ContainerWorld;
  let room: Room;
  let kubelet: Kubelet;
  before(async () => {
    world = await ContainerWorld.start();
  });
  beforeEach(async () => {
    room = await world.room();
    kubelet = room.kubelet();
  });
  afterEach(() => room.stop());
  after(() => world?.stop());

  const exported = (name: string): Promise<string | undefined> =>
    room.secret(`${name}-export`, 'config', room.items);
  const succeeds = async (name: string, job: string): Promise<void> => {
    const { status } = await room.run(name, job);
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
  };

  it('DEP-72: runs an image, publishes its export and keeps its state', async () => {
    await room.deployer();
    const line = 'cp $IMPORTS_PATH $EXPORTS_PATH; echo $OPERATION > $STATE_PATH/op';
    await room.give('web', shell(line, { importValues: { n: 1 } }));
    await succeeds('web', 'j1');
    const { status } = (await room.item('web')) ?? {};
    expect(kubelet.runs).to.have.length(1);
    expect(kubelet.runs[0]).to.match(/^web-/);
    expect(status?.exportRef).to.deep.equal({ name: 'web-export', namespace: room.items });
    expect(await exported('web')).to.equal('{"n":1}');
    expect(await room.stateSecrets()).to.have.length(1);
    expect(status?.providerStatus).to.nested.include({
      'podStatus.lastSuccessfulJobID': 'j1',
      lastOperation: 'RECONCILE',
    });
    await room.noPod();
  });

  it('DEP-73: passes the state of the last run to the next, and deletes the older one', async () => {
    await room.deployer();
    await room.give(
      'web',
      shell('mkdir $STATE_PATH/d; echo $OPERATION > $STATE_PATH/d/op; chmod 700 $STATE_PATH/d/op'),
    );
    await succeeds('web', 'j1');
    const [first] = await room.stateSecrets();
    const line =
      'test -x $STATE_PATH/d/op && cat $STATE_PATH/d/op > $EXPORTS_PATH; echo 2 > $STATE_PATH/count';
    await room.configure('web', shell(line));
    await succeeds('web', 'j2');
    expect(await exported('web')).to.equal('"RECONCILE"');
    const left = await room.stateSecrets();
    expect(left).to.have.length(1);
    expect(left[0]?.metadata.name).not.to.equal(first?.metadata.name);
  });

  it('DEP-73: stores three mebibytes of state in pieces and restores them byte by byte', async () => {
    await room.deployer();
    const sum = (file: string): string =>
      `printf '{"sum":"%s"}' "$(sha256sum ${file} | cut -d' ' -f1)" > $EXPORTS_PATH`;
    await room.give(
      'web',
      shell(`head -c 3145728 /dev/urandom > $STATE_PATH/big; ${sum('$STATE_PATH/big')}`),
    );
    await succeeds('web', 'j1');
    const before = await exported('web');
    expect((await room.stateSecrets()).length).to.be.at.least(3);
    await room.configure('web', shell(sum('$STATE_PATH/big')));
    await succeeds('web', 'j2');
    expect(await exported('web')).to.equal(before);
    expect(before).not.to.contain(createHash('sha256').digest('hex'));
  });

  const targets: readonly (readonly [string, object, Record<string, string> | undefined, unknown])[] = [
    ['inline', { config: { a: 'b' } }, undefined, '{"a":"b"}'],
    ['keyed', { secretRef: { name: 'keyed', key: 'x' } }, { x: 'some text' }, 'some text'],
    ['whole', { secretRef: { name: 'whole' } }, { x: '1', y: 'k: v' }, '{"x":1,"y":{"k":"v"}}'],
  ];

  it('DEP-74: provides the target in a file, or null', async () => {
    await room.deployer();
    for (const [name, spec, secret] of targets) {
      await room.target(name, spec, secret);
      await room.give(name, shell('cp $TARGET_PATH $EXPORTS_PATH'), { target: name });
      await room.kick(name, 'j1');
    }
    await room.give('none', shell('cp $TARGET_PATH $EXPORTS_PATH'));
    await room.kick('none', 'j1');
    for (const [name, , , content] of targets) {
      await room.finished(name, 'j1');
      const file = JSON.parse((await exported(name)) ?? '') as {
        target: { metadata: object };
        content: unknown;
      };
      expect(file.content).to.equal(content);
      expect(file.target).to.nested.include({
        kind: 'Target',
        'metadata.name': name,
        'spec.type': 'example.org/thing',
      });
    }
    await room.finished('none', 'j1');
    expect(await exported('none')).to.equal('null');
  });

  it('DEP-75: fails with the exit code of the image, keeps its state and exports nothing', async () => {
    await room.deployer();
    const line = 'echo x > $STATE_PATH/x; echo "{}" > $EXPORTS_PATH; echo the disk is full; exit 3';
    await room.give('web', shell(line));
    const { status } = await room.run('web', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError).to.include({ operation: 'RunMainContainer', reason: 'ContainerFailed' });
    expect(status?.lastError?.message).to.match(/^container main exited with 3: the disk is full/);
    expect(status?.providerStatus).to.nested.include({ 'podStatus.containerStatus.exitCode': 3 });
    expect(status?.providerStatus).not.to.have.nested.property('podStatus.lastSuccessfulJobID');
    expect(await exported('web')).to.equal(undefined);
    expect(await room.stateSecrets()).to.have.length(1);
    const [pod = ''] = kubelet.runs;
    expect(kubelet.outputs.get(`${pod}/wait`)).to.contain('main container exists with 3');
  });

  it('DEP-77: runs the image for the deletion, with the state, and leaves nothing behind', async () => {
    await room.deployer();
    await room.give('web', shell('echo here > $STATE_PATH/op; [ $OPERATION = RECONCILE ] || exit 1'));
    await succeeds('web', 'j1');
    await room.remove('web');
    const { status, metadata } = await room.run('web', 'j2');
    expect(status?.phase).to.equal('DeleteFailed');
    expect(metadata.finalizers).to.deep.equal([FINALIZER]);
    expect(status?.providerStatus).to.nested.include({ lastOperation: 'DELETE' });
    await room.configure('web', shell('[ "$OPERATION $(cat $STATE_PATH/op)" = "DELETE here" ]'));
    await room.kick('web', 'j3');
    await room.gone('web');
    expect(kubelet.runs).to.have.length(3);
    await room.noPod();
    expect(await room.leftovers()).to.deep.equal([]);
  });

  it('DEP-77: cleans up without running the image on request', async () => {
    await room.deployer();
    await room.give('web', shell('echo x > $STATE_PATH/x; [ $OPERATION = RECONCILE ]'), {
      annotations: { [CLEAN]: 'true' },
    });
    await succeeds('web', 'j1');
    await room.remove('web');
    await room.kick('web', 'j2');
    await room.gone('web');
    expect(kubelet.runs).to.have.length(1);
    expect(await room.leftovers()).to.deep.equal([]);
  });

  it('DEP-78: provides blueprint and descriptor of the configuration in files', async () => {
    await room.deployer();
    const component = {
      meta: { schemaVersion: 'v2' },
      component: {
        name: 'example.org/c',
        version: '1.0.0',
        provider: 'x',
        repositoryContexts: [],
        resources: [],
        sources: [],
        componentReferences: [],
      },
    };
    const line =
      'printf \'{"a":"%s","has":"%s","cd":%s}\' "$(cat $CONTENT_PATH/f/a.txt)" "$(ls $CONTENT_PATH/blueprint.yaml | wc -l)" ' +
      '"$(cat $COMPONENT_DESCRIPTOR_PATH)" > $EXPORTS_PATH';
    const filesystem = {
      'blueprint.yaml': 'apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n',
      f: { 'a.txt': 'hello' },
    };
    await room.give(
      'web',
      shell(line, { blueprint: { inline: { filesystem } }, componentDescriptor: { inline: component } }),
    );
    await succeeds('web', 'j1');
    const value = JSON.parse((await exported('web')) ?? '') as {
      cd: { components: { component: { name: string } }[] };
    };
    expect(value).to.include({ a: 'hello', has: '1' });
    expect(value.cd.components.map((one) => one.component.name)).to.deep.equal(['example.org/c']);
  });

  it('DEP-78: reports content that is not available', async () => {
    await room.deployer();
    await room.give('web', shell('true', { blueprint: { ref: { resourceName: 'bp' } } }));
    const { status } = await room.run('web', 'j1');
    expect(status?.lastError).to.include({ operation: 'RunInitContainer', reason: 'ContainerFailed' });
    expect(status?.lastError?.message).to.contain('has no componentDescriptor');
  });

  it('DEP-80: ends the pod of a job that has timed out', async () => {
    await room.deployer();
    await room.give('web', shell('sleep 600'), { timeout: '8s' });
    const { status } = await room.run('web', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
    expect(status?.lastError?.message).to.match(/^timeout at: "container deployer: start reconcile"/);
    await room.noPod();
  });

  it('ends the pod of a job that was interrupted, and runs the next one', async () => {
    await room.deployer();
    await room.give('web', shell('sleep 600'));
    await room.kick('web', 'j1');
    await room.pod((pod) => pod.status?.phase === 'Running');
    await room.edit('web', { status: { phase: 'Failed', jobIDFinished: 'j1' } }, 'status');
    await room.noPod();
    await room.configure('web', shell('true'));
    await succeeds('web', 'j2');
    expect(kubelet.runs).to.have.length(2);
  });

  it('runs an image once even if the deployer dies meanwhile', async () => {
    const first = await room.deployer();
    await room.give(
      'web',
      shell('while [ ! -e $STATE_PATH/../go ]; do sleep 0.2; done; echo 1 > $EXPORTS_PATH'),
    );
    await room.kick('web', 'j1');
    const pod = await room.pod(({ status }) => status?.phase === 'Running');
    await first.crash();
    await room.deployer();
    await room.configure('web', shell('true')); // this change requests another run, after the first
    await room.until('the next pod', async () => kubelet.runs.length === 2 || undefined);
    expect((await room.finished('web', 'j1')).status?.phase).to.equal('Succeeded');
    expect(new Set(kubelet.runs).size).to.equal(2);
    expect(kubelet.runs[0]).to.equal(pod.metadata.name);
  });

  it('refuses to store symbolic links, and names them', async () => {
    await room.deployer();
    await room.give('web', shell('ln -s /etc/passwd $STATE_PATH/link'));
    const { status } = await room.run('web', 'j1');
    expect(status?.lastError).to.include({ operation: 'RunWaitContainer', reason: 'ContainerFailed' });
    expect(status?.lastError?.message).to.contain('link in the state is a symbolic link');
  });

  it('rejects an invalid export without showing it', async () => {
    await room.deployer();
    await room.give('web', shell('echo "a: [hidden-value" > $EXPORTS_PATH'));
    const { status } = await room.run('web', 'j1');
    expect(status?.lastError?.operation).to.equal('RunWaitContainer');
    expect(status?.lastError?.message).to.contain('not valid JSON or YAML');
    expect(JSON.stringify(status)).not.to.contain('hidden-value');
  });

  it('does not show values of the target or the imports, whatever the image prints', async () => {
    await room.deployer();
    await room.target('door', { config: { password: 'open-sesame-4711' } });
    await room.give(
      'web',
      shell('cat $TARGET_PATH $IMPORTS_PATH; exit 1', { importValues: { pin: 'number-0815-x' } }),
      {
        target: 'door',
      },
    );
    const { status } = await room.run('web', 'j1');
    expect(status?.lastError?.message).to.match(/^container main exited with 1/);
    expect(JSON.stringify(status)).not.to.match(/open-sesame-4711|number-0815-x/);
    const [pod = ''] = kubelet.runs;
    expect(kubelet.outputs.get(`${pod}/main`)).to.contain('open-sesame-4711');
    expect(kubelet.outputs.get(`${pod}/init`)).not.to.match(/open-sesame-4711|number-0815-x/);
    expect(kubelet.outputs.get(`${pod}/wait`)).not.to.match(/open-sesame-4711|number-0815-x/);
  });

  it('ends pods of earlier runs before it starts another', async () => {
    await room.deployer();
    await room.give('web', shell('sleep 600'));
    await room.kick('web', 'j1');
    const first = await room.pod((pod) => pod.status?.phase === 'Running');
    await room.configure('web', shell('true'));
    expect((await room.finished('web', 'j1')).status?.phase).to.equal('Succeeded');
    expect(kubelet.runs).to.have.length(2);
    expect(kubelet.runs[0]).to.equal(first.metadata.name);
    expect(await room.names(DEPLOY_ITEM, room.items)).to.deep.equal(['web']);
  });

  /** Deletes the pod as a drain of its node does. @returns the status of the job, and the seconds until its end */
  const drained = async (line: string, gracePeriodSeconds: number) => {
    await room.deployer();
    await room.give('web', shell(`echo started > $STATE_PATH/log; ${line}`));
    await room.kick('web', 'j1');
    const pod = await room.pod(({ status }) => status?.phase === 'Running');
    const output = (name: string): string => kubelet.outputs.get(`${pod.metadata.name}/${name}`) ?? '';
    await room.until('both run', async () =>
      output('main').includes('ready') && output('wait').includes('waiting') ? true : undefined,
    );
    const elapsed = stopwatch();
    const key = `${room.pods}/${pod.metadata.name}`;
    await world.client.send({ verb: 'delete', kind: POD, key, gracePeriodSeconds });
    const { status } = await room.finished('web', 'j1');
    // Otherwise the drain would wait for it until the next job.
    await room.noPod();
    return { status, seconds: elapsed() / 1000 };
  };
  const waits = 'echo ready; while true; do sleep 0.1; done';
  const restored = async (): Promise<string | undefined> => {
    await room.configure('web', shell('cp $STATE_PATH/log $EXPORTS_PATH'));
    await succeeds('web', 'j2');
    return exported('web');
  };

  it('ends soon when its node is drained, stores the state, and exports nothing', async () => {
    const line = `trap 'echo stopped > $STATE_PATH/log; echo 1 > $EXPORTS_PATH; exit 0' TERM; ${waits}`;
    const { status, seconds } = await drained(line, 300);
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError).to.include({ operation: 'RunWaitContainer' });
    expect(status?.lastError?.message).to.contain('the exit code of the main container is unknown');
    expect(seconds, 'instead of two thirds of the grace period').to.be.below(patience(40));
    expect(await exported('web')).to.equal(undefined);
    expect(await restored()).to.equal('"stopped"');
  });

  it('stores the state of an image that does not end before it is killed', async () => {
    const { status } = await drained(`trap '' TERM; ${waits}`, 12);
    expect(status?.lastError).to.include({ operation: 'RunMainContainer' });
    expect(status?.lastError?.message).to.match(/^container main exited with 137/);
    expect(await restored()).to.equal('"started"');
  });

  it('runs without native sidecars if the configuration says so', async () => {
    await room.stop();
    room = await world.room({ isSidecar: false });
    kubelet = room.kubelet();
    await room.deployer();
    await room.give('web', shell('cp $IMPORTS_PATH $EXPORTS_PATH', { importValues: { n: 1 } }));
    await room.kick('web', 'j1');
    const pod = await room.pod();
    const { containers } = pod.spec as { containers?: readonly { readonly name: string }[] };
    expect(containers?.map(({ name }) => name)).to.deep.equal(['main', 'wait']);
    expect((await room.finished('web', 'j1')).status?.phase).to.equal('Succeeded');
    expect(await exported('web')).to.equal('{"n":1}');
  });
});
