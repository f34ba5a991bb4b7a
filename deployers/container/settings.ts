/** Settings of the deployer: namespace and images of pods, and when leftovers are deleted. */

/** The program that one of our containers runs. */
export interface ProgramSpec {
  readonly image: string;
  readonly command?: readonly string[] | undefined;
  readonly args?: readonly string[] | undefined;
}

export interface ContainerSettings {
  /** Namespace of the host cluster for pods and all their objects. */
  readonly namespace: string;
  /** For items without an image. */
  readonly defaultImage: string;
  readonly init: ProgramSpec;
  readonly wait: ProgramSpec;
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

export const defaultSettings: ContainerSettings = {
  namespace: 'default',
  defaultImage: 'ubuntu:18.04',
  init: { image: OWN_IMAGE, command: ['espalier', 'container', 'init'] },
  wait: { image: OWN_IMAGE, command: ['espalier', 'container', 'wait'] },
  garbageCollection: { isDisabled: false, everyMs: 3_600_000 },
  keepsEndedPods: false,
};
