/** How the deployer itself is configured: where pods run, of which images, and when what is left over goes. */

/** The program that a container of ours runs. */
export interface ProgramSpec {
  readonly image: string;
  readonly command?: readonly string[] | undefined;
  readonly args?: readonly string[] | undefined;
}

export interface ContainerSettings {
  /** Namespace of the host cluster in which pods run, with all that belongs to them. */
  readonly namespace: string;
  /** For items that name no image. */
  readonly defaultImage: string;
  readonly init: ProgramSpec;
  readonly wait: ProgramSpec;
  readonly garbageCollection: {
    readonly isDisabled: boolean;
    readonly everyMs: number;
  };
  /** Leave pods that have ended in place, for debugging. */
  readonly keepsPods: boolean;
}

/** Also the tag of the image that holds the programs. */
export const VERSION = '0.1.0';
const OWN_IMAGE = `espalier:${VERSION}`;

export const defaultSettings: ContainerSettings = {
  namespace: 'default',
  defaultImage: 'ubuntu:18.04',
  init: { image: OWN_IMAGE, command: ['espalier', 'container', 'init'] },
  wait: { image: OWN_IMAGE, command: ['espalier', 'container', 'wait'] },
  garbageCollection: { isDisabled: false, everyMs: 3_600_000 },
  keepsPods: false,
};
