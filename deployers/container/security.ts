/**
 * Security contexts of a pod. They satisfy the `restricted` Pod Security profile unless the configuration says
 * otherwise. All containers run as the same user, because they share files. Pure.
 */
import type { GivenSecurityContext } from './settings.ts';

const USER = 1000;
const GROUP = 3000;
/** Group of the files in volumes. */
const FILES_GROUP = 2000;

const isRoot = ({ runAsUser = USER }: GivenSecurityContext): boolean => runAsUser === 0;

export const podSecurity = (given: GivenSecurityContext): object => ({
  runAsUser: given.runAsUser ?? USER,
  runAsGroup: given.runAsGroup ?? GROUP,
  fsGroup: FILES_GROUP,
  runAsNonRoot: given.runAsNonRoot ?? !isRoot(given),
  seccompProfile: { type: 'RuntimeDefault' },
});

/** For the image of an item. */
export const mainSecurity = (given: GivenSecurityContext): object => ({
  runAsNonRoot: !isRoot(given),
  allowPrivilegeEscalation: given.privileged === true,
  capabilities: { drop: ['ALL'] },
  ...given,
});

/**
 * For init and wait. If the image runs as root, it may create files of other users, which root can only read with a
 * capability.
 */
export const helperSecurity = (given: GivenSecurityContext): object => ({
  runAsNonRoot: given.runAsNonRoot ?? !isRoot(given),
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'], ...(isRoot(given) && { add: ['DAC_OVERRIDE'] }) },
});
