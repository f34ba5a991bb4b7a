/** The writes of upstream, in its order, according to recordings: an installation, a change of it, and its deletion. */
import { dataObjectKind } from '../../src/api/kinds/dataobject.ts';
import { deployItemKind } from '../../src/api/kinds/deployitem.ts';
import { executionKind, writeDeployItems, type DeployItemTemplate } from '../../src/api/kinds/execution.ts';
import { installationKind } from '../../src/api/kinds/installation.ts';
import { API_VERSION, FINALIZER, GROUP, NO_TARGET_NAME, annotations, labels } from '../../src/api/labels.ts';
import type { Kind, Obj } from '../../src/runtime/types.ts';
import { RECONCILE, blueprint, mockItem, root } from './landscape.ts';
import type { Scene } from './scene.ts';

/** One write of upstream. */
export interface OriginalWrite {
  readonly title: string;
  readonly make: (scene: Scene) => Promise<unknown>;
}

const TIME = '2026-01-02T03:04:05Z';
const ITEM = 'web-app-abcde';
const OTHER_ITEM = 'web-other-fghij';
/** The hash of an installation without imports, as upstream computes it. */
const NO_IMPORTS = '0f87657555a176d70ad8a275ca4141af0f720a11';
const template = mockItem('app');
const otherTemplate = mockItem('other');

const status =
  (kind: Kind, name: string, body: Readonly<Record<string, unknown>>) =>
  (scene: Scene): Promise<unknown> =>
    scene.patchStatus(kind, name, body);
const inst = (body: object) => status(installationKind, 'web', { ...body });
const exec = (body: object) => status(executionKind, 'web', { ...body });
const item = (body: object) => status(deployItemKind, ITEM, { ...body });
const otherItem = (body: object) => status(deployItemKind, OTHER_ITEM, { ...body });

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

const createItem =
  (name: string, { name: of, type, config }: DeployItemTemplate) =>
  async (scene: Scene): Promise<unknown> =>
    scene.create({
      apiVersion: API_VERSION,
      kind: deployItemKind.kind,
      metadata: {
        name,
        generateName: `web-${of}-`,
        finalizers: [FINALIZER],
        ownerReferences: await ownedBy(scene, executionKind),
        labels: { [labels.executionManagedBy]: 'web', [labels.executionName]: of },
        annotations: {
          [annotations.dependsOn]: '',
          [annotations.deployerTargetName]: NO_TARGET_NAME,
          [annotations.deployerType]: `${GROUP}/mock`,
          [annotations.reconcileTime]: TIME,
        },
      },
      spec: { type, config, context: 'default' },
    } as Obj);

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

export const install: readonly OriginalWrite[] = [
  { title: 'a user created the root', make: (scene) => scene.create(root('web', { items: [template] })) },
  {
    title: 'the defaults were set',
    make: (scene) =>
      scene.patch(installationKind, 'web', { spec: { context: 'default', imports: {}, exports: {} } }),
  },
  { title: 'the retry status was reset', make: inst({ observedGeneration: 0 }) },
  {
    title: 'the finalizer was set',
    make: (scene) => scene.patch(installationKind, 'web', { metadata: { finalizers: [FINALIZER] } }),
  },
  { title: 'the job id was set', make: inst({ jobID: 'j1', transitionTimes: { triggerTime: TIME } }) },
  {
    title: 'the annotation was removed',
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
  { title: 'there were no children to create', make: inst({ conditions: [subs], subInstCache: {} }) },
  { title: 'the execution was created', make: createExecution },
  {
    title: 'the execution was recorded in the status',
    make: async (scene) =>
      inst({ conditions: [subs, deployed], executionRef: { name: 'web', namespace: scene.ns } })(scene),
  },
  { title: 'CleanupOrphaned was entered', make: inst({ phase: 'CleanupOrphaned', importsHash: NO_IMPORTS }) },
  { title: 'ObjectsCreated was entered', make: inst({ phase: 'ObjectsCreated' }) },
  {
    title: 'the execution had received the job',
    make: exec({ jobID: 'j1', observedGeneration: 0, transitionTimes: { triggerTime: TIME } }),
  },
  { title: 'the execution entered Init', make: exec({ phase: 'Init', phaseTransitionTime: TIME }) },
  {
    title: 'Progressing was entered',
    make: inst({ phase: 'Progressing', transitionTimes: { waitTime: TIME } }),
  },
  { title: 'the item was created', make: createItem(ITEM, template) },
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
    title: 'the item had received the job',
    make: (scene) =>
      item({
        jobID: 'j1',
        observedGeneration: 0,
        deployer: nameless,
        transitionTimes: { triggerTime: TIME },
        jobIDGenerationTime: `${new Date().toISOString().slice(0, 19)}Z`,
      })(scene),
  },
  {
    title: 'the execution waited',
    make: exec(waits('handleReconcilePhase', 'handlePhaseProgressing', 'some running items')),
  },
  {
    title: 'a deployer had picked up the item',
    make: item({ phase: 'Progressing', lastReconcileTime: TIME, transitionTimes: { initTime: TIME } }),
  },
  {
    title: 'the item had succeeded',
    make: item({ phase: 'Succeeded', jobIDFinished: 'j1', ...finishedTime }),
  },
  { title: 'the execution entered Completing', make: exec({ phase: 'Completing', lastError: null }) },
  { title: 'the exports of the execution were written', make: createExports },
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

/** Another item replaces the first one. */
export const change: readonly OriginalWrite[] = [
  {
    title: 'a user changed the blueprint',
    make: (scene) => scene.setBlueprint('web', blueprint({ items: [otherTemplate] })),
  },
  { title: 'a user requested a job', make: (scene) => scene.operation('web', 'reconcile') },
  { title: 'the job id of the change was set', make: inst({ jobID: 'j2', ...again }) },
  {
    title: 'the annotation was removed after the change',
    make: (scene) => scene.annotate(installationKind, 'web', { [annotations.operation]: null }),
  },
  {
    title: 'Init was entered for the change',
    make: inst({ phase: 'Init', observedGeneration: 3, subInstCache: null, phaseTransitionTime: TIME }),
  },
  { title: 'there were still no children to create', make: inst({ subInstCache: {} }) },
  {
    title: 'the execution was changed',
    make: (scene) =>
      scene.patch(executionKind, 'web', {
        spec: { deployItems: null, ...writeDeployItems([otherTemplate]) },
      }),
  },
  { title: 'CleanupOrphaned was entered for the change', make: inst({ phase: 'CleanupOrphaned' }) },
  { title: 'ObjectsCreated was entered for the change', make: inst({ phase: 'ObjectsCreated' }) },
  { title: 'the execution had received the job of the change', make: exec({ jobID: 'j2', ...again }) },
  { title: 'Progressing was entered for the change', make: inst({ phase: 'Progressing' }) },
  {
    title: 'the execution entered Init for the change',
    make: exec({ phase: 'Init', deployItemCache: null, phaseTransitionTime: TIME }),
  },
  { title: 'the old item was deleted', make: (scene) => scene.remove(deployItemKind, ITEM) },
  { title: 'the new item was created', make: createItem(OTHER_ITEM, otherTemplate) },
  {
    title: 'the execution entered Progressing for the change',
    make: exec({
      phase: 'Progressing',
      deployItemCache: {
        activeDIs: [{ specName: 'other', objectName: OTHER_ITEM }],
        orphanedDIs: [ITEM],
      },
    }),
  },
  { title: 'the old item had received the job of the change', make: item({ jobID: 'j2', ...again }) },
  { title: 'a deployer was working on the old item', make: item({ phase: 'Deleting' }) },
  {
    title: 'the old item was gone',
    make: (scene) => scene.patch(deployItemKind, ITEM, { metadata: { finalizers: null } }),
  },
  {
    title: 'the new item had received the job',
    make: (scene) =>
      otherItem({
        jobID: 'j2',
        observedGeneration: 0,
        deployer: nameless,
        transitionTimes: { triggerTime: TIME },
        jobIDGenerationTime: `${new Date().toISOString().slice(0, 19)}Z`,
      })(scene),
  },
  {
    title: 'the new item had succeeded',
    make: otherItem({ phase: 'Succeeded', jobIDFinished: 'j2', ...finishedTime }),
  },
  {
    title: 'the execution entered Completing for the change',
    make: exec({ phase: 'Completing', lastError: null }),
  },
  {
    title: 'the execution had succeeded with the change',
    make: exec({
      phase: 'Succeeded',
      jobIDFinished: 'j2',
      ...finishedTime,
      deployItemCache: { orphanedDIs: null },
    }),
  },
  { title: 'Completing was entered for the change', make: inst({ phase: 'Completing', lastError: null }) },
];

export const uninstall: readonly OriginalWrite[] = [
  { title: 'a user deleted the root', make: (scene) => scene.delete('web') },
  { title: 'the job id of the deletion was set', make: inst({ jobID: 'j2', ...again }) },
  {
    title: 'InitDelete was entered',
    make: inst({ phase: 'InitDelete', observedGeneration: 3, subInstCache: null }),
  },
  { title: 'the execution was deleted', make: (scene) => scene.remove(executionKind, 'web') },
  { title: 'TriggerDelete was entered', make: inst({ phase: 'TriggerDelete' }) },
  { title: 'the execution had received the job of the deletion', make: exec({ jobID: 'j2', ...again }) },
  { title: 'the execution entered InitDelete', make: exec({ phase: 'InitDelete', deployItemCache: null }) },
  { title: 'the item was deleted', make: (scene) => scene.remove(deployItemKind, ITEM) },
  { title: 'the execution entered Deleting', make: exec({ phase: 'Deleting' }) },
  { title: 'Deleting was entered', make: inst({ phase: 'Deleting' }) },
  { title: 'the item had received the job of the deletion', make: item({ jobID: 'j2', ...again }) },
  {
    title: 'the installation waited for the objects below it',
    make: inst(waits('handleReconcilePhase', 'PendingSubobjects', 'deletion of some sub objects pending')),
  },
  { title: 'a deployer was working on the deletion', make: item({ phase: 'Deleting' }) },
];
