/** Pure functions: configuration, names, snapshots, the state of a pod, garbage. */
import { expect } from 'chai';
import { containerConfig } from '../../../../deployers/container/config.ts';
import { annotations, POD_FINALIZER } from '../../../../deployers/container/contract.ts';
import { isGarbage } from '../../../../deployers/container/garbage-collection.ts';
import type { Pod } from '../../../../deployers/container/kinds.ts';
import {
  itemOf,
  labelsOf,
  namesOf,
  podName,
  podPrefix,
  stateName,
} from '../../../../deployers/container/names.ts';
import { dockerConfig, targetFile } from '../../../../deployers/container/objects.ts';
import { conditionsOf, podStatusOf, runStateOf } from '../../../../deployers/container/pod-status.ts';
import { snapshotsIn } from '../../../../deployers/container/snapshots.ts';
import type { DeployItem } from '../../../../deployers/sdk/kinds.ts';
import { isDns1123Subdomain, isLabelValue } from '../../../../src/lib/names.ts';
import { maskOf } from '../../../../src/lib/masking.ts';
import { podRunning, podSucceeded, terminated, waiting } from '../../../support/containers.ts';

const read = (fields: object): ReturnType<typeof containerConfig.decode> =>
  containerConfig.decode({
    apiVersion: 'container.deployer.landscaper.gardener.cloud/v1alpha1',
    kind: 'ProviderConfiguration',
    ...fields,
  });

describe('the configuration of the container deployer', () => {
  it('needs no fields', () => {
    expect(read({})).to.deep.include({ image: undefined, command: undefined, registryPullSecrets: [] });
  });

  it('has what the image runs', () => {
    const run = { image: 'tool:1', command: ['run'], args: ['--all'] };
    expect(read(run)).to.deep.include(run);
  });

  it('treats null as missing, because templates write it', () => {
    expect(
      read({ image: null, args: null, importValues: null, blueprint: null, registryPullSecrets: null }),
    ).to.deep.equal(read({}));
  });

  it('ignores unknown fields', () => {
    expect(read({ image: 'x', later: 1 }).image).to.equal('x');
  });

  const wrong: readonly (readonly [string, object, string])[] = [
    ['a command that is a string', { command: 'ls' }, 'command'],
    ['import values that are a list', { importValues: [1] }, 'importValues'],
    [
      'a pull secret without namespace',
      { registryPullSecrets: [{ name: 'x' }] },
      'registryPullSecrets[0].namespace',
    ],
    [
      'two blueprints',
      { blueprint: { inline: { filesystem: {} }, ref: { resourceName: 'x' } } },
      'blueprint',
    ],
    [
      'a component without version',
      { componentDescriptor: { ref: { componentName: 'x' } } },
      'componentDescriptor.ref.version',
    ],
    ['two schedules', { continuousReconcile: { cron: '* * * * *', every: '1h' } }, 'continuousReconcile'],
  ];
  for (const [what, fields, place] of wrong) {
    it(`rejects ${what}, and says where`, () => {
      expect(() => read(fields)).to.throw(place);
    });
  }
});

describe('the names of the objects of an item', () => {
  const long = { namespace: 'n'.repeat(63), name: 'x'.repeat(253) };

  it('are those of upstream', () => {
    const {
      config,
      target,
      export: exported,
      imagePull,
      blueprintPull,
      descriptorPull,
      ocmConfig,
    } = namesOf({
      namespace: 'ns',
      name: 'di',
    });
    expect([config, target, exported, imagePull, blueprintPull, descriptorPull, ocmConfig]).to.deep.equal(
      ['config', 'target', 'export', 'imgpullsec', 'bppullsec', 'cdpullsec', 'ocmconfig'].map(
        (end) => `ns-di-${end}`,
      ),
    );
  });

  it('are valid and unique, however long the name of the item is', () => {
    const all = [
      ...Object.values<string>({ ...namesOf(long) }),
      stateName(long, 'abcde'),
      `${podPrefix(long)}12345678`,
    ];
    for (const name of all) expect(isDns1123Subdomain(name), name).to.deep.equal([]);
    for (const value of Object.values(labelsOf(long, 'y'.repeat(100))))
      expect(isLabelValue(value), value).to.deep.equal([]);
    const other = namesOf({ ...long, name: `${'x'.repeat(252)}y` });
    expect(
      Object.values<string>({ ...namesOf(long) }).filter((name) =>
        Object.values<string>({ ...other }).includes(name),
      ),
    ).to.deep.equal([]);
  });

  it('lead back to the item, also from labels that were shortened', () => {
    const metadata = {
      labels: labelsOf(long, 'd'),
      annotations: { [annotations.item]: `${long.namespace}/${long.name}` },
    };
    expect(itemOf({ metadata })).to.deep.equal(long);
    expect(itemOf({ metadata: { labels: labelsOf({ namespace: 'a', name: 'b' }, 'd') } })).to.deep.equal({
      namespace: 'a',
      name: 'b',
    });
    expect(itemOf({ metadata: { labels: { app: 'web' } } })).to.equal(undefined);
  });

  it('of pods are the same for the same run, and for no other', () => {
    const run = {
      item: { namespace: 'ns', name: 'di' },
      uid: 'u',
      jobID: 'j1',
      generation: 1,
      operation: 'RECONCILE',
    } as const;
    const others = [{ jobID: 'j2' }, { generation: 2 }, { operation: 'DELETE' as const }, { uid: 'v' }];
    expect(podName({ ...run }))
      .to.equal(podName(run))
      .and.to.match(/^di-[0-9a-f]{8}$/);
    expect(new Set([podName(run), ...others.map((more) => podName({ ...run, ...more }))]).size).to.equal(5);
  });
});

describe('the snapshots of a state', () => {
  const piece = (
    name: string,
    uuid: string,
    num: number,
    created: string,
    more: Record<string, string> = {},
  ) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      creationTimestamp: `2026-01-01T00:00:${created}Z`,
      annotations: { [annotations.stateUuid]: uuid, [annotations.stateNum]: String(num), ...more },
    },
  });
  const of = (count: number, time = '') => ({
    [annotations.statePieces]: String(count),
    [annotations.stateTime]: time,
  });

  it('are assembled in the order of their numbers, ten after nine', () => {
    const pieces = Array.from({ length: 11 }, (_, i) => piece(`p${String(i)}`, 'a', i, '01')).reverse();
    expect(snapshotsIn(pieces).newest).to.deep.equal(Array.from({ length: 11 }, (_, i) => `p${String(i)}`));
  });

  it('are ordered by age: the newest is kept, the others are deleted', () => {
    const old = piece('old', 'a', 0, '01');
    const found = snapshotsIn([old, piece('new', 'b', 0, '02')]);
    expect(found).to.deep.equal({ newest: ['new'], others: [old] });
  });

  it('of the same second are ordered by their own time', () => {
    const early = piece('early', 'a', 0, '01', of(1, '2026-01-01T00:00:01.100Z'));
    const late = piece('late', 'b', 0, '01', of(1, '2026-01-01T00:00:01.900Z'));
    expect(snapshotsIn([late, early]).newest).to.deep.equal(['late']);
    expect(snapshotsIn([early, late]).newest).to.deep.equal(['late']);
  });

  it('that are incomplete do not replace a complete one', () => {
    const whole = piece('whole', 'a', 0, '01', of(1));
    const half = piece('half', 'b', 0, '02', of(2));
    expect(snapshotsIn([whole, half])).to.deep.equal({ newest: ['whole'], others: [half] });
  });

  it('are empty if there are none', () => {
    expect(snapshotsIn([])).to.deep.equal({ newest: [], others: [] });
  });
});

describe('the state of a pod', () => {
  const pod = (status: object): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-1', creationTimestamp: '2026-01-01T00:00:00Z' },
    status: status,
  });
  const look = (status: object) => {
    const seen = pod(status);
    const shown = podStatusOf(seen, undefined, maskOf(['secret-value']));
    return { stand: runStateOf(seen, shown), shown };
  };

  const rows: readonly (readonly [string, object, string])[] = [
    ['there is no status yet', {}, 'running'],
    ['it waits for a node', { phase: 'Pending' }, 'running'],
    ['its node does not respond', { phase: 'Unknown' }, 'running'],
    ['its containers run', podRunning, 'running'],
    [
      'the image has failed, and its state is being stored',
      { ...podRunning, containerStatuses: [terminated('main', 1)] },
      'running',
    ],
    ['all containers have succeeded', podSucceeded, 'succeeded'],
    ['it failed', { phase: 'Failed', containerStatuses: [terminated('main', 1)] }, 'failed'],
    ['it failed without a message', { phase: 'Failed' }, 'failed'],
    ['it was preempted', { phase: 'Failed', reason: 'Preempting' }, 'failed'],
  ];
  for (const [what, status, is] of rows) {
    it(`is ${is} if ${what}`, () => {
      expect(look(status).stand.is).to.equal(is);
    });
  }

  it('is finished if it was deleted before it had a node, but not if it had one', () => {
    const standing = (spec: Record<string, unknown>) => {
      const one = pod({ phase: 'Pending' });
      const seen = { ...one, spec, metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
      return runStateOf(seen, podStatusOf(seen, undefined, maskOf([])));
    };
    expect(standing({})).to.deep.include({ is: 'failed', isStuck: true });
    expect(standing({ nodeName: 'n' }).is).to.equal('running');
  });

  it('names the first container that failed', () => {
    const { stand } = look({
      phase: 'Failed',
      containerStatuses: [terminated('wait', 1), terminated('main', 3)],
    });
    expect(stand).to.have.nested.property('problem.operation', 'RunMainContainer');
  });

  it('reports what prevents it from starting', () => {
    const { stand } = look({
      phase: 'Pending',
      containerStatuses: [waiting('main', 'CreateContainerConfigError', 'no secret x')],
    });
    expect(stand).to.have.nested.property(
      'why.message',
      'container main does not start: CreateContainerConfigError: no secret x',
    );
    expect(
      look({ phase: 'Pending', containerStatuses: [waiting('main', 'ContainerCreating')] }).stand,
    ).to.deep.equal({
      is: 'running',
      why: undefined,
    });
  });

  it('shows the end of a long message, and no secret', () => {
    const message = `${'x'.repeat(5000)} secret-value the end`;
    const { shown, stand } = look({
      phase: 'Failed',
      containerStatuses: [terminated('main', 1, { message })],
    });
    expect(shown.containerStatus.message)
      .to.have.lengthOf.at.most(1024)
      .and.match(/the end$/);
    expect(JSON.stringify([shown, stand])).not.to.contain('secret-value');
  });

  it('has conditions that never claim more than is known', () => {
    const conditions = (status: object) =>
      conditionsOf(look(status).shown).map(({ type, status: is }) => `${type} ${is}`);
    expect(conditions({})).to.deep.equal(['InitContainer Progressing', 'WaitContainer Progressing']);
    expect(conditions({ initContainerStatuses: [terminated('init', 2)] })).to.deep.equal([
      'InitContainer False',
      'WaitContainer Progressing',
    ]);
  });
});

describe('a pod is deleted', () => {
  const item = (jobID: string, jobIDFinished: string): DeployItem =>
    ({ metadata: { name: 'web' }, status: { jobID, jobIDFinished } }) as unknown as DeployItem;
  const pod = (phase: string, finalizers: string[] = [POD_FINALIZER]): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', finalizers, annotations: { [annotations.job]: 'j1' } },
    status: { phase },
  });
  const open = item('j1', '');
  const closed = item('j1', 'j1');
  const next = item('j2', 'j1');

  const rows: readonly (readonly [string, boolean, Pod, DeployItem | undefined, boolean])[] = [
    ['not while it is running', false, pod('Running'), open, true],
    ['not while it is running for an item that is gone', false, pod('Running'), undefined, true],
    ['if it is running for a job that has ended', true, pod('Running'), closed, true],
    ['not yet if the next job has started, which ends it itself', false, pod('Running'), next, true],
    ['if it has ended and its item is gone', true, pod('Failed'), undefined, true],
    ['not if it is the last of its item', false, pod('Failed'), closed, true],
    ['if there is a younger one', true, pod('Failed'), closed, false],
    ['if it has no finalizer', true, pod('Succeeded', []), closed, true],
  ];
  for (const [what, expected, it_, of, isNewest] of rows) {
    it(what, () => {
      expect(isGarbage(it_, { item: of, isNewest })).to.equal(expected);
    });
  }
});

describe('the target as programs read it', () => {
  it('has integers beyond 2^53 with all their digits', () => {
    const target = {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Target',
      metadata: { name: 't' },
      spec: { config: { n: 2n ** 60n + 1n } },
    };
    expect(targetFile(target, undefined)).to.contain('"config":{"n":1152921504606846977}');
  });

  it('has all metadata, as upstream’s: also the managed fields', () => {
    const metadata = { name: 't', managedFields: [{ manager: 'kubectl', operation: 'Update' }] };
    const target = { apiVersion: '', kind: '', metadata, spec: {} };
    const { target: shown } = JSON.parse(targetFile(target, 'x')) as { target: object };
    expect(shown).to.deep.include({ kind: 'Target', metadata });
    expect(shown).to.have.property('apiVersion', 'landscaper.gardener.cloud/v1alpha1');
  });
});

describe('credentials for a kubelet', () => {
  it('may be a token that a registry has issued', () => {
    const text = dockerConfig('example.org', { username: '', password: '', identityToken: 'issued' });
    expect(text['.dockerconfigjson']).to.contain('"identitytoken":"issued"');
  });

  it('name the registry as kubelets expect it', () => {
    const login = { username: 'u', password: 'p' };
    const auths = (host: string): object =>
      (JSON.parse(dockerConfig(host, login)['.dockerconfigjson'] ?? '') as { auths: object }).auths;
    expect(auths('example.org:5000')).to.deep.equal({ 'example.org:5000': { ...login, auth: 'dTpw' } });
    expect(auths('registry-1.docker.io')).to.have.all.keys('https://index.docker.io/v1/');
  });
});
