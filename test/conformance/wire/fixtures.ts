/** Objects as Landscaper and its users write them, field by field; the CRDs must accept all of them and lose nothing. */
import { writeDeployItems } from '../../../src/api/kinds/execution.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import type { Json } from '../../support/wire-client.ts';

const TIME = '2026-01-02T03:04:05Z';
const config = {
  apiVersion: 'test.example/v1',
  kind: 'Cfg',
  list: [1, null, 'x'],
  nested: { 'a.b/c': true },
};
const error = {
  operation: 'Op',
  reason: 'Why',
  message: 'What',
  lastTransitionTime: TIME,
  lastUpdateTime: TIME,
  codes: ['ERR_FOR_INFO_ONLY'],
};
const condition = {
  type: 'CreateImports',
  status: 'False',
  reason: 'R',
  message: '',
  lastTransitionTime: TIME,
  lastUpdateTime: TIME,
};
const times = { triggerTime: TIME, initTime: TIME, waitTime: TIME, finishedTime: TIME };
const job = { jobID: 'j2', jobIDFinished: 'j1', phase: 'Progressing' };
const files = (text: string): Json => ({
  inline: { filesystem: { 'blueprint.yaml': text, sub: { 'a.txt': 'x' } } },
});

export interface Fixture {
  readonly title: string;
  readonly plural: string;
  readonly object: Json;
}

const fixture = (title: string, plural: string, kind: string, fields: Json): Fixture => ({
  title,
  plural,
  object: { apiVersion: API_VERSION, kind, ...fields },
});

export const fixtures: readonly Fixture[] = [
  fixture('an installation with an inline blueprint', 'installations', 'Installation', {
    spec: { blueprint: files('kind: Blueprint') },
  }),
  fixture(
    'an installation whose defaults were persisted, before its first job',
    'installations',
    'Installation',
    {
      spec: { blueprint: files(''), context: 'default', imports: {}, exports: {} },
      status: { observedGeneration: 0 },
    },
  ),
  fixture('an installation with every field', 'installations', 'Installation', {
    spec: {
      context: 'default',
      verification: { signatureName: 'sig' },
      componentDescriptor: {
        ref: { repositoryContext: { type: 'OCIRegistry', baseUrl: 'x' }, componentName: 'c', version: 'v1' },
        inline: { meta: { schemaVersion: 'v2' }, component: { resources: [{ access: { type: 'none' } }] } },
      },
      blueprint: { ref: { resourceName: 'r' } },
      imports: {
        data: [
          { name: 'a', dataRef: 'x', version: 'v1' },
          { name: 'b', secretRef: { name: 's', key: 'k' } },
          { name: 'c', configMapRef: { name: 'm' } },
        ],
        targets: [
          { name: 'd', target: 't' },
          { name: 'e', targets: [] },
          { name: 'f', targetListRef: 'l' },
          { name: 'g', targetMap: { red: 't1' } },
          { name: 'h', targetMapRef: 'm' },
        ],
      },
      importDataMappings: { a: '(( x ))', b: { nested: ['(( y ))', 1, null] }, c: 5, d: true },
      exports: { data: [{ name: 'o', dataRef: 'x' }], targets: [{ name: 'p', target: 'y' }] },
      exportDataMappings: { o: '(( z ))' },
      automaticReconcile: {
        succeededReconcile: { interval: '24h', cronSpec: '@hourly' },
        failedReconcile: { numberOfReconciles: 3, interval: 'none', cronSpec: '*/5 * * * *' },
      },
      optimization: { hasNoSiblingImports: true, hasNoSiblingExports: false },
    },
    status: {
      observedGeneration: 2,
      ...job,
      phaseTransitionTime: TIME,
      importsHash: 'abc',
      lastError: error,
      conditions: [condition, { ...condition, codes: [] }],
      executionRef: { name: 'e', namespace: 'n' },
      subInstCache: { activeSubs: [{ specName: 'a', objectName: 'a-xyz' }], orphanedSubs: ['b-xyz'] },
      dependentsToTrigger: [{ name: 'next' }],
      automaticReconcileStatus: {
        generation: 2,
        numberOfReconciles: 1,
        lastReconcileTime: TIME,
        onFailed: true,
      },
      transitionTimes: times,
    },
  }),
  fixture('an execution whose items are readable', 'executions', 'Execution', {
    spec: {
      deployItems: [
        { name: 'a', type: 'test.example/fake', config },
        {
          name: 'b',
          type: 'test.example/fake',
          config: { ...config, metadata: { name: 'x', labels: { a: 'b' } } },
          target: { name: 't', namespace: 'n' },
          labels: { team: 'x' },
          dependsOn: ['a'],
          timeout: '2m0s',
          updateOnChangeOnly: true,
          onDelete: { skipUninstallIfClusterRemoved: true },
        },
      ],
    },
  }),
  fixture('an execution whose items are compressed', 'executions', 'Execution', {
    spec: { context: 'default', ...writeDeployItems([{ name: 'a', type: 'test.example/fake', config }]) },
    status: {
      observedGeneration: 0,
      ...job,
      phaseTransitionTime: TIME,
      lastError: error,
      conditions: [condition],
      exportRef: { name: 'x', namespace: 'n' },
      deployItemCache: { activeDIs: [{ specName: 'a', objectName: 'e-a-xyz' }], orphanedDIs: ['e-b-xyz'] },
      transitionTimes: times,
    },
  }),
  fixture('a deploy item that was triggered and not picked up', 'deployitems', 'DeployItem', {
    spec: { type: 'test.example/fake', context: 'default', config },
    status: {
      observedGeneration: 0,
      jobID: 'j1',
      jobIDGenerationTime: TIME,
      deployer: { identity: '', name: '', version: '' },
      transitionTimes: { triggerTime: TIME },
    },
  }),
  fixture('a deploy item with every field', 'deployitems', 'DeployItem', {
    spec: {
      type: 'landscaper.gardener.cloud/helm',
      target: { name: 't', namespace: '' },
      context: 'default',
      config,
      timeout: 'none',
      updateOnChangeOnly: true,
      onDelete: { skipUninstallIfClusterRemoved: false },
    },
    status: {
      observedGeneration: 1,
      ...job,
      conditions: [condition],
      lastError: error,
      firstError: error,
      lastErrors: [error, { ...error, codes: [] }],
      lastReconcileTime: TIME,
      jobIDGenerationTime: TIME,
      deployer: { identity: 'i', name: 'n', version: 'v' },
      providerStatus: {
        apiVersion: 'x/v1',
        kind: 'Status',
        managedResources: [{ policy: 'manage', resource: {} }],
      },
      exportRef: { name: 'x', namespace: 'n' },
      transitionTimes: times,
      deployItemPhase: 'Succeeded',
    },
  }),
  fixture('a target with an object as configuration', 'targets', 'Target', {
    spec: {
      type: 'landscaper.gardener.cloud/kubernetes-cluster',
      config: { kubeconfig: { apiVersion: 'v1' } },
    },
  }),
  fixture('a target with a string as configuration', 'targets', 'Target', {
    spec: { type: 't', config: 'text' },
  }),
  fixture('a target with a secret', 'targets', 'Target', {
    spec: { type: 't', secretRef: { name: 's', key: 'k' } },
  }),
  ...[5, 1.5, 'text', '', true, null, [1, [null]], {}, { a: null, 'b/c': { d: [] } }].map((data) =>
    fixture(`a data object with ${JSON.stringify(data)}`, 'dataobjects', 'DataObject', { data }),
  ),
  fixture('a default context', 'contexts', 'Context', { componentVersionOverwrites: '' }),
  fixture('a context with every field', 'contexts', 'Context', {
    repositoryContext: { type: 'OCIRegistry', baseUrl: 'x' },
    ocmConfig: { name: 'o' },
    registryPullSecrets: [{ name: 's' }],
    configurations: { 'helm.credentials': { auths: [{ url: 'u' }] }, text: 'x', number: 1 },
    componentVersionOverwrites: 'c',
    verificationSignatures: {
      sig: {
        publicKeySecretReference: { name: 's', namespace: 'n', key: 'k' },
        caCertificateSecretReference: { name: 's', namespace: 'n', key: 'k' },
      },
    },
  }),
  fixture('overwrites of component versions', 'componentversionoverwrites', 'ComponentVersionOverwrites', {
    overwrites: [
      { source: { componentName: 'a' }, substitution: { repositoryContext: { type: 'x' }, version: 'v' } },
    ],
  }),
  fixture('a target sync', 'targetsyncs', 'TargetSync', {
    spec: {
      sourceNamespace: 'clusters',
      secretNameExpression: '^prod-',
      secretRef: { name: 'source-access', key: 'kubeconfig' },
      createTargetToSource: true,
      targetToSourceName: 'hub',
      tokenRotation: { enabled: true },
    },
    status: { observedGeneration: 1, lastUpdateTime: TIME, lastErrors: ['x'], lastTokenRotationTime: TIME },
  }),
  fixture('a target sync of shoots', 'targetsyncs', 'TargetSync', {
    spec: {
      sourceNamespace: 'n',
      secretRef: { name: 's' },
      secretNameExpression: '',
      shootNameExpression: '*',
    },
  }),
  fixture('a health check', 'lshealthchecks', 'LsHealthCheck', {
    status: 'Init',
    lastUpdateTime: TIME,
    description: '',
  }),
  fixture('critical problems', 'criticalproblems', 'CriticalProblems', {
    spec: { criticalProblem: [{ podName: 'p', creationTime: TIME, description: 'd' }] },
    status: {},
  }),
  fixture('a lock without a holder', 'syncobjects', 'SyncObject', {
    spec: { podName: '', kind: 'Installation', name: 'i', lastUpdateTime: TIME, prefix: 'inst' },
    status: {},
  }),
];

export interface Mistake {
  readonly title: string;
  readonly plural: string;
  readonly object: Json;
  /** The field that the server reports. */
  readonly field: string;
}

const mistake = (title: string, field: string, plural: string, kind: string, fields: Json): Mistake => ({
  title,
  field,
  plural,
  object: { apiVersion: API_VERSION, kind, ...fields },
});

export const mistakes: readonly Mistake[] = [
  mistake('an installation without spec', 'spec', 'installations', 'Installation', {}),
  mistake('an installation without blueprint', 'spec.blueprint', 'installations', 'Installation', {
    spec: {},
  }),
  mistake('an import without name', 'spec.imports.data[0].name', 'installations', 'Installation', {
    spec: { blueprint: files(''), imports: { data: [{ dataRef: 'x' }] } },
  }),
  mistake('an item without configuration', 'spec.deployItems[0].config', 'executions', 'Execution', {
    spec: { deployItems: [{ name: 'a', type: 't' }] },
  }),
  mistake('a configuration without kind', 'spec.config.kind', 'deployitems', 'DeployItem', {
    spec: { type: 't', config: { apiVersion: 'v1' } },
  }),
  mistake('a deploy item without type', 'spec.type', 'deployitems', 'DeployItem', { spec: { config } }),
  mistake('a data object without data', 'data', 'dataobjects', 'DataObject', {}),
  mistake('a target sync without access', 'spec.secretRef', 'targetsyncs', 'TargetSync', {
    spec: { sourceNamespace: 'n' },
  }),
  mistake('an invalid time', 'lastUpdateTime', 'lshealthchecks', 'LsHealthCheck', {
    status: 'Ok',
    lastUpdateTime: 'yesterday',
    description: '',
  }),
];
