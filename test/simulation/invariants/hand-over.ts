/** Invariants after every write, so that upstream could take over at any time. */
import { overlooked } from '../../support/original.ts';
import { isJobObject, nameOf, type JobObject } from '../cluster/objects.ts';
import type { Server } from '../cluster/server.ts';
import { above, below } from './below.ts';
import type { Law } from './law.ts';

const overlookedBelow = (server: Server, parent: JobObject): string | undefined => {
  if (parent.kind === 'DeployItem') return undefined;
  const names = overlooked(parent, below(server, parent));
  return names.length > 0
    ? `the original would not know of ${names.join(', ')} below ${nameOf(parent)} in phase ${parent.status?.phase ?? '-'}`
    : undefined;
};

export const handoverLaws: readonly Law[] = [
  {
    name: 'upstream would find everything below an object',
    broken({ object, type }, server) {
      if (!isJobObject(object) || type === 'DELETED') return undefined;
      const parent = above(server, object);
      return overlookedBelow(server, object) ?? (parent && overlookedBelow(server, parent));
    },
  },
];
