/** SyncObject: upstream's lock of one object among several replicas. Only read during migration, never written. */
import { z } from 'zod';
import { syncObjectKind } from '../landscaper-kinds.ts';
import { objectOf, open, time, type Definition } from '../shared.ts';

const syncObjectSpec = open({
  podName: z.string().describe('Holder of the lock; empty if it is free.'),
  kind: z.string().describe('Kind of the locked object.'),
  name: z.string().describe('Name of the locked object.'),
  lastUpdateTime: time().describe('When the lock was taken or confirmed.'),
  prefix: z.string().describe('Prefix of the name of this object; the rest is the uid of the locked object.'),
});

const syncObject = objectOf('SyncObject', {
  spec: syncObjectSpec.describe('The lock.'),
  status: open({}).optional().describe('Not used.'),
});
export type SyncObject = z.infer<typeof syncObject>;

export { syncObjectKind };

export const syncObjectDefinition: Definition = {
  kind: syncObjectKind,
  singular: 'syncobject',
  shortNames: ['so'],
  columns: [
    { name: 'PodName', type: 'string', path: '.spec.podName' },
    { name: 'Kind', type: 'string', path: '.spec.kind' },
    { name: 'Name', type: 'string', path: '.spec.name' },
  ],
  statusSubresource: true,
  description: 'Lock of one object while several replicas are running.',
  schema: syncObject,
};
