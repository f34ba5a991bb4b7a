/** Builds the pod of one run of an image. Pure. */
import type { Obj } from '../../src/runtime/types.ts';
import { annotations, containers, labels, paths, POD_FINALIZER, variables } from './contract.ts';
import { labelsOf, namesOf, podName, podPrefix, type RunKey } from './names.ts';
import { helperSecurity, mainSecurity, podSecurity } from './security.ts';
import type { ContainerSettings } from './settings.ts';

interface PodFacts {
  readonly run: RunKey;
  readonly deployerId: string;
  readonly settings: ContainerSettings;
  /** Whether the wait container is a native sidecar. */
  readonly isSidecar: boolean;
  readonly image: string;
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
  /** W3C trace context for the image; undefined if traces are switched off. */
  readonly traceparent: string | undefined;
  /** Secrets of the snapshot to restore, in order. */
  readonly stateSecrets: readonly string[];
  /** Which of the optional objects exist. */
  readonly has: {
    readonly imagePull: boolean;
    readonly blueprintPull: boolean;
    readonly descriptorPull: boolean;
    readonly ocmConfig: boolean;
  };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: unknown;
}

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

interface Part {
  readonly volume: object & { readonly name: string };
  readonly mount: Mount;
}

const GRACE_SECONDS = 300;

export function podOf(facts: PodFacts): Obj {
  const { run, deployerId, settings } = facts;
  const names = namesOf(run.item);
  const initParts = initPartsOf(facts, names);
  const waitPart = accountPart('serviceaccount-wait', names.waitToken);
  const wait = waitOf(facts, waitPart);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(run),
      generateName: podPrefix(run.item),
      namespace: settings.namespace,
      finalizers: [POD_FINALIZER],
      labels: { ...labelsOf(run.item, deployerId), [labels.itemGeneration]: String(run.generation) },
      annotations: {
        [annotations.item]: `${run.item.namespace}/${run.item.name}`,
        [annotations.job]: run.jobID,
      },
    },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: GRACE_SECONDS,
      automountServiceAccountToken: false,
      securityContext: podSecurity(settings.main.securityContext),
      ...(facts.has.imagePull && { imagePullSecrets: [{ name: names.imagePull }] }),
      volumes: [shared, ...initParts, waitPart].map(({ volume }) => volume),
      initContainers: [
        helperOf(facts, containers.init, [shared, ...initParts], initVariables(facts)),
        ...(facts.isSidecar ? [{ ...wait, restartPolicy: 'Always' }] : []),
      ],
      containers: [mainOf(facts), ...(facts.isSidecar ? [] : [wait])],
    },
  } as Obj;
}

const shared: Part = {
  volume: { name: 'shared-volume', emptyDir: {} } as Part['volume'],
  mount: { name: 'shared-volume', mountPath: paths.shared },
};

const initPartsOf = ({ has }: PodFacts, names: ReturnType<typeof namesOf>): readonly Part[] => [
  secretPart('configuration', names.config, folderOf(paths.configuration)),
  secretPart('target', names.target, folderOf(paths.targetSource)),
  ...(has.ocmConfig ? [ocmPart(names.ocmConfig)] : []),
  accountPart('serviceaccount-init', names.initToken),
  ...(has.blueprintPull ? [pullPart('blueprint-pull-secret', names.blueprintPull)] : []),
  ...(has.descriptorPull ? [pullPart('cd-pull-secret', names.descriptorPull)] : []),
];

const initVariables = ({ run, stateSecrets }: PodFacts): readonly Variable[] => [
  ...common,
  ...itemVariables(run),
  { name: variables.configuration, value: paths.configuration },
  { name: variables.targetSource, value: paths.targetSource },
  { name: variables.registrySecrets, value: paths.registrySecrets },
  { name: variables.ocmConfiguration, value: paths.ocmConfiguration },
  { name: variables.stateSecrets, value: stateSecrets.join(',') },
];

const waitOf = (facts: PodFacts, waitPart: Part): object =>
  helperOf(
    facts,
    containers.wait,
    [shared, waitPart],
    [
      ...common,
      ...itemVariables(facts.run),
      ...(facts.isSidecar ? [{ name: variables.sidecar, value: 'true' }] : []),
    ],
  );

const mainOf = ({ image, command, args, run, traceparent, settings: { main } }: PodFacts): object => ({
  name: containers.main,
  image,
  ...(command && { command }),
  ...(args && { args }),
  imagePullPolicy: main.pullPolicy,
  terminationMessagePolicy: 'FallbackToLogsOnError',
  securityContext: mainSecurity(main.securityContext),
  resources: main.resources,
  env: [
    ...common,
    { name: variables.operation, value: run.operation },
    ...(traceparent === undefined ? [] : [{ name: variables.traceparent, value: traceparent }]),
  ],
  volumeMounts: [shared.mount],
});

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

function helperOf(
  { settings }: PodFacts,
  name: 'init' | 'wait',
  parts: readonly Part[],
  env: readonly Variable[],
): object {
  const { image, command, args, pullPolicy, resources } = settings[name];
  return {
    name,
    image,
    ...(command && { command }),
    ...(args && { args }),
    imagePullPolicy: pullPolicy,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: helperSecurity(settings.main.securityContext),
    resources,
    env,
    volumeMounts: parts.map(({ mount }) => mount),
  };
}

const field = (fieldPath: string): object => ({ fieldRef: { fieldPath } });

const common: readonly Variable[] = [
  { name: variables.imports, value: paths.imports },
  { name: variables.exports, value: paths.exports },
  { name: variables.componentDescriptor, value: paths.componentDescriptor },
  { name: variables.target, value: paths.target },
  { name: variables.content, value: paths.content },
  { name: variables.state, value: paths.state },
  { name: variables.podName, valueFrom: field('metadata.name') },
  { name: variables.podNamespace, valueFrom: field('metadata.namespace') },
];

const itemVariables = ({ item }: RunKey): readonly Variable[] => [
  { name: variables.itemName, value: item.name },
  { name: variables.itemNamespace, value: item.namespace },
];

const secretPart = (name: string, secretName: string, mountPath: string): Part => ({
  volume: { name, secret: { secretName } } as Part['volume'],
  mount: { name, mountPath, readOnly: true },
});

const pullPart = (name: string, secretName: string): Part =>
  secretPart(name, secretName, `${paths.registrySecrets}/${name}`);

const ocmPart = (configMap: string): Part => ({
  volume: { name: 'ocm-configuration', configMap: { name: configMap } } as Part['volume'],
  mount: { name: 'ocm-configuration', mountPath: folderOf(paths.ocmConfiguration), readOnly: true },
});

/**
 * Token and namespace come from our secret, the CA certificates from the config map that Kubernetes creates in
 * every namespace.
 */
const accountPart = (name: string, secret: string): Part => ({
  volume: {
    name,
    projected: {
      sources: [
        { secret: { name: secret } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      ],
    },
  } as Part['volume'],
  mount: { name, mountPath: paths.serviceAccount, readOnly: true },
});
