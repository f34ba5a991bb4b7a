/** Settings of the deployer: namespace, images, rights and resources of pods, and when leftovers are deleted. */

export const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'] as const;
type PullPolicy = (typeof PULL_POLICIES)[number];

type Quantities = Readonly<Record<string, string>>;

/** Requests and limits of a container. */
export interface Resources {
  readonly requests: Quantities;
  readonly limits: Quantities;
}

/** How a container is started, whatever its image. */
interface ContainerSpec {
  readonly pullPolicy: PullPolicy;
  readonly resources: Resources;
}

/** The program that one of our containers runs. */
export interface ProgramSpec extends ContainerSpec {
  readonly image: string;
  readonly command?: readonly string[] | undefined;
  readonly args?: readonly string[] | undefined;
}

/** The container of the item's image. */
interface MainSpec extends ContainerSpec {
  /** Fields of a container's `securityContext` that replace those of the `restricted` profile. */
  readonly securityContext: GivenSecurityContext;
}

export interface GivenSecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly privileged?: boolean;
  readonly [other: string]: unknown;
}

export interface ContainerSettings {
  /** Namespace of the host cluster for pods and all their objects. */
  readonly namespace: string;
  /** For items without an image. */
  readonly defaultImage: string;
  /** Namespaces whose pull secrets the items of all namespaces may use; `*`: all namespaces. */
  readonly pullSecretNamespaces: readonly string[];
  readonly main: MainSpec;
  readonly init: ProgramSpec;
  readonly wait: ProgramSpec;
  /** Whether the wait container is a native sidecar; undefined: if the cluster and the program support it. */
  readonly isSidecar?: boolean;
  readonly garbageCollection: {
    readonly isDisabled: boolean;
    readonly everyMs: number;
  };
  /** Whether ended pods are kept, for debugging. */
  readonly keepsEndedPods: boolean;
}

/** Also the tag of the image that contains the programs. */
export const VERSION = '0.1.0';
const OWN_IMAGE = `espalier:${VERSION}`;

/** Init and wait have the whole state in memory. */
const program = (name: string): ProgramSpec => ({
  image: OWN_IMAGE,
  command: ['espalier', 'container', name],
  pullPolicy: 'IfNotPresent',
  resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } },
});

export const defaultSettings: ContainerSettings = {
  namespace: 'default',
  defaultImage: 'ubuntu:18.04',
  pullSecretNamespaces: [],
  main: {
    pullPolicy: 'IfNotPresent',
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '2Gi' } },
    securityContext: {},
  },
  init: program('init'),
  wait: program('wait'),
  garbageCollection: { isDisabled: false, everyMs: 3_600_000 },
  keepsEndedPods: false,
};
