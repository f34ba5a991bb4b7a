/**
 * A job of the original that is cut off after any of its writes is carried to its end here: each test stands for one
 * write, in the order in which the original makes them.
 */
import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind, writeDeployItems } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import {
  API_VERSION,
  FINALIZER,
  GROUP,
  NO_TARGET_NAME,
  annotations,
  labels,
} from '../../../src/api/labels.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { startCluster, startControllers, type Cluster, type Controllers } from '../../support/cluster.ts';
import { RECONCILE, mockItem, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

/** One write of the original. */
interface Write {
  readonly title: string;
  readonly make: (scene: Scene) => Promise<unknown>;
}

const TIME = '2026-01-02T03:04:05Z';
const ITEM = 'web-app-abcde';
/** Of an installation that imports nothing, as the original computes it. */
const NO_IMPORTS = '0f87657555a176d70ad8a275ca4141af0f720a11';
const template = mockItem('app');

const status =
  (kind: Kind, name: string, body: Readonly<Record<string, unknown>>) =>
  (scene: Scene): Promise<unknown> =>
    scene.patchStatus(kind, name, body);
const inst = (body: object) => status(installationKind, 'web', { ...body });
const exec = (body: object) => status(executionKind, 'web', { ...body });
const item = (body: object) => status(deployItemKind, ITEM, { ...body });

const ownedBy = async (scene: Scene, kind: Kind) => {
  const { uid } = (await scene.cluster.client.get(kind, `${scene.ns}/web`)).metadata;
  const reference = { apiVersion: API_VERSION, kind: kind.kind, name: 'web', uid: uid ?? '' };
  return [{ ...reference, controller: true, blockOwnerDeletion: true }];
};

async function createExecution(scene: Scene): Promise<void> {
  const ownerReferences = await ownedBy(scene, installationKind);
  await scene.create({
    apiVersion: API_VERSION,
    kind: executionKind.kind,
    metadata: { name: 'web', annotations: RECONCILE, finalizers: [FINALIZER], ownerReferences },
    spec: { context: 'default', ...writeDeployItems([template]) },
  } as Obj);
}

async function createItem(scene: Scene): Promise<void> {
  await scene.create({
    apiVersion: API_VERSION,
    kind: deployItemKind.kind,
    metadata: {
      name: ITEM,
      generateName: 'web-app-',
      finalizers: [FINALIZER],
      ownerReferences: await ownedBy(scene, executionKind),
      labels: { [labels.executionManagedBy]: 'web', [labels.executionName]: 'app' },
      annotations: {
        [annotations.dependsOn]: '',
        [annotations.deployerTargetName]: NO_TARGET_NAME,
        [annotations.deployerType]: `${GROUP}/mock`,
        [annotations.reconcileTime]: TIME,
      },
    },
    spec: { type: template.type, config: template.config, context: 'default' },
  } as Obj);
}

async function createExports(scene: Scene): Promise<void> {
  await scene.create({
    apiVersion: API_VERSION,
    kind: dataObjectKind.kind,
    metadata: {
      name: '36c4b3a1fa9fe9aa0e6c21a6d5d1ac0f54fcbe2b',
      labels: { [labels.dataContext]: 'Exec.web', [labels.dataSource]: 'Exec.web' },
    },
    data: {},
  } as Obj);
}

const nameless = { identity: '', name: '', version: '' };
const times = { lastTransitionTime: TIME, lastUpdateTime: TIME };
const waits = (operation: string, reason: string, message: string) => ({
  lastError: {
    operation,
    reason,
    message,
    ...times,
    codes: ['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY', 'ERR_NO_RETRY'],
  },
});
const condition = (type: string, reason: string) => ({
  type,
  reason,
  status: 'True',
  message: 'x',
  ...times,
});
const subs = condition('EnsureSubInstallations', 'InstallationsInstalled');
const deployed = condition('ReconcileExecution', 'ExecutionDeployed');
const finishedTime = { transitionTimes: { finishedTime: TIME } };

const install: readonly Write[] = [
  { title: 'a user created the root', make: (scene) => scene.create(root('web', { items: [template] })) },
  {
    title: 'the defaults were filled in',
    make: (scene) =>
      scene.patch(installationKind, 'web', { spec: { context: 'default', imports: {}, exports: {} } }),
  },
  { title: 'the retries were forgotten', make: inst({ observedGeneration: 0 }) },
  {
    title: 'the finalizer was set',
    make: (scene) => scene.patch(installationKind, 'web', { metadata: { finalizers: [FINALIZER] } }),
  },
  { title: 'the job id was made', make: inst({ jobID: 'j1', transitionTimes: { triggerTime: TIME } }) },
  {
    title: 'the annotation was taken away',
    make: (scene) => scene.annotate(installationKind, 'web', { [annotations.operation]: null }),
  },
  {
    title: 'Init was entered',
    make: inst({
      phase: 'Init',
      observedGeneration: 2,
      phaseTransitionTime: TIME,
      transitionTimes: { initTime: TIME },
    }),
  },
  { title: 'there were no children to make', make: inst({ conditions: [subs], subInstCache: {} }) },
  { title: 'the execution was made', make: createExecution },
  {
    title: 'the execution was noted',
    make: async (scene) =>
      inst({ conditions: [subs, deployed], executionRef: { name: 'web', namespace: scene.ns } })(scene),
  },
  { title: 'CleanupOrphaned was entered', make: inst({ phase: 'CleanupOrphaned', importsHash: NO_IMPORTS }) },
  { title: 'ObjectsCreated was entered', make: inst({ phase: 'ObjectsCreated' }) },
  {
    title: 'the execution had the job',
    make: exec({ jobID: 'j1', observedGeneration: 0, transitionTimes: { triggerTime: TIME } }),
  },
  { title: 'the execution entered Init', make: exec({ phase: 'Init', phaseTransitionTime: TIME }) },
  {
    title: 'Progressing was entered',
    make: inst({ phase: 'Progressing', transitionTimes: { waitTime: TIME } }),
  },
  { title: 'the item was made', make: createItem },
  {
    title: 'the execution entered Progressing',
    make: exec({
      phase: 'Progressing',
      deployItemCache: { activeDIs: [{ specName: 'app', objectName: ITEM }] },
    }),
  },
  {
    title: 'the installation waited',
    make: inst(waits('handlePhaseProgressing', 'JobIDFinished', 'execution is not finished yet')),
  },
  {
    title: 'the item had the job',
    make: (scene) =>
      item({
        ...{ jobID: 'j1', observedGeneration: 0, deployer: nameless, transitionTimes: { triggerTime: TIME } },
        jobIDGenerationTime: `${new Date().toISOString().slice(0, 19)}Z`,
      })(scene),
  },
  {
    title: 'the execution waited',
    make: exec(waits('handleReconcilePhase', 'handlePhaseProgressing', 'some running items')),
  },
  {
    title: 'a deployer had taken the item up',
    make: item({ phase: 'Progressing', lastReconcileTime: TIME, transitionTimes: { initTime: TIME } }),
  },
  {
    title: 'the item had succeeded',
    make: item({ phase: 'Succeeded', jobIDFinished: 'j1', ...finishedTime }),
  },
  { title: 'the execution entered Completing', make: exec({ phase: 'Completing', lastError: null }) },
  { title: 'the exports of the execution were there', make: createExports },
  {
    title: 'the execution had succeeded',
    make: exec({ phase: 'Succeeded', jobIDFinished: 'j1', ...finishedTime }),
  },
  { title: 'Completing was entered', make: inst({ phase: 'Completing', lastError: null }) },
  {
    title: 'the installation had succeeded',
    make: inst({ phase: 'Succeeded', jobIDFinished: 'j1', ...finishedTime }),
  },
];

const again = { transitionTimes: { triggerTime: TIME, initTime: null, waitTime: null, finishedTime: null } };
const uninstall: readonly Write[] = [
  { title: 'a user deleted the root', make: (scene) => scene.delete('web') },
  { title: 'the job id of the deletion was made', make: inst({ jobID: 'j2', ...again }) },
  {
    title: 'InitDelete was entered',
    make: inst({ phase: 'InitDelete', observedGeneration: 3, subInstCache: null }),
  },
  { title: 'the execution was deleted', make: (scene) => scene.remove(executionKind, 'web') },
  { title: 'TriggerDelete was entered', make: inst({ phase: 'TriggerDelete' }) },
  { title: 'the execution had the job of the deletion', make: exec({ jobID: 'j2', ...again }) },
  { title: 'the execution entered InitDelete', make: exec({ phase: 'InitDelete', deployItemCache: null }) },
  { title: 'the item was deleted', make: (scene) => scene.remove(deployItemKind, ITEM) },
  { title: 'the execution entered Deleting', make: exec({ phase: 'Deleting' }) },
  { title: 'Deleting was entered', make: inst({ phase: 'Deleting' }) },
  { title: 'the item had the job of the deletion', make: item({ jobID: 'j2', ...again }) },
  {
    title: 'the installation waited for what is below',
    make: inst(waits('handleReconcilePhase', 'PendingSubobjects', 'deletion of some sub objects pending')),
  },
  { title: 'a deployer was at work on the removal', make: item({ phase: 'Deleting' }) },
];

describe('a job that the original was cut off in is carried to its end, when', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  let controllers: Controllers;
  const scenes = new Map<Write, Scene>();

  before(async () => {
    cluster = await startCluster();
    const cutOffAfter = async (writes: readonly Write[], count: number): Promise<void> => {
      const scene = await cluster.scene();
      for (const { make } of writes.slice(0, count)) await make(scene);
      scenes.set(writes[count - 1] as Write, scene);
    };
    for (let count = 1; count <= install.length; count++) await cutOffAfter(install, count);
    for (let count = 1; count <= uninstall.length; count++) {
      await cutOffAfter([...install, ...uninstall], install.length + count);
    }
    controllers = await startControllers(cluster);
  });
  after(async () => {
    await controllers.stop();
    await cluster.stop();
  });
  const sceneOf = (write: Write): Scene => scenes.get(write) as Scene;

  for (const [i, write] of install.entries()) {
    it(write.title, async () => {
      const scene = sceneOf(write);
      const end = await scene.finished('web', 'Succeeded');
      const hadJob = i >= install.findIndex(({ title }) => title === 'the job id was made');
      expect(scene.jobs('web')).to.have.length(1);
      if (hadJob) expect(end.status?.jobID).to.equal('j1');
      expect(end.status?.lastError).to.equal(undefined);
      expect(scene.items('web').map(({ status: s }) => s?.phase)).to.deep.equal(['Succeeded']);
    });
  }
  for (const [i, write] of uninstall.entries()) {
    it(write.title, async () => {
      const scene = sceneOf(write);
      await scene.empty();
      const jobs = scene.jobs('web');
      expect(jobs).to.have.length(2);
      if (i > 0) expect(jobs).to.deep.equal(['j1', 'j2']);
    });
  }
});
