/** Invariants after every write, so that upstream could take over at any time. */
import { freshNames } from '../../../src/landscape/fresh-names.ts';
import { overlooked } from '../../support/original.ts';
import { isJobObject, nameOf, type JobObject, type Stored } from '../cluster/objects.ts';
import type { Server } from '../cluster/server.ts';
import { above, below } from './below.ts';
import type { Law } from './law.ts';

/**
 * Objects that a request of an earlier job has created after the next job had begun, by uid. Nothing can know of them
 * before they exist; the job after that removes them.
 */
const arrivedLate = new WeakMap<Server, Set<string>>();

/** Objects that are in use may stand in the way of a name. */
const MAX_ATTEMPTS = 3;

/** Whether the parent's job creates objects of that name. */
function isOfThisJob({ metadata }: Stored, parent: JobObject): boolean {
  const taken = new Set<string>();
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const isTaken = (name: string) => (taken.has(name) ? (parent as never) : undefined);
    const name = freshNames(parent, isTaken, () => false)(metadata.generateName ?? '');
    if (name === metadata.name) return true;
    taken.add(name);
  }
  return false;
}

function noteLate(server: Server, object: Stored, parent: JobObject): void {
  const { generateName, uid = '' } = object.metadata;
  if (generateName === undefined || isOfThisJob(object, parent)) return;
  const late = arrivedLate.get(server) ?? new Set();
  arrivedLate.set(server, late.add(uid));
}

const overlookedBelow = (server: Server, parent: JobObject): string | undefined => {
  if (parent.kind === 'DeployItem') return undefined;
  const late = arrivedLate.get(server);
  const names = overlooked(
    parent,
    below(server, parent).filter(({ metadata }) => !late?.has(metadata.uid ?? '')),
  );
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
      if (type === 'ADDED' && parent) noteLate(server, object, parent);
      return overlookedBelow(server, object) ?? (parent && overlookedBelow(server, parent));
    },
  },
];
