import { expect } from 'chai';
import { eventLines, eventsOfTree, type TreeEvent } from '../../../src/cli/tree/events.ts';
import { execution, installation, item, trees } from './given.ts';

const event = (name: string, uid: string, more: Partial<TreeEvent> = {}): TreeEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: 'proj' },
  involvedObject: { kind: 'Installation', name: 'app', uid },
  type: 'Normal',
  reason: 'Started',
  message: name,
  ...more,
});
const [root] = trees(installation('app'), execution('app'), item('app-x', { execution: 'app' }));

describe('the events of a tree', () => {
  it('are those of all its objects, oldest first, whichever API wrote them', () => {
    if (!root) throw new Error('no tree');
    const found = eventsOfTree(root, [
      event('c', 'uid-app-x', { eventTime: '2026-01-01T00:00:03.000000Z', lastTimestamp: null }),
      event('b', 'uid-app', { lastTimestamp: '2026-01-01T00:00:02Z' }),
      event('a', 'uid-app', { firstTimestamp: '2026-01-01T00:00:01Z' }),
      event('of an older app', 'uid-before', { lastTimestamp: '2026-01-01T00:00:02Z' }),
    ]);
    expect(found.map(({ metadata }) => metadata.name)).to.deep.equal(['a', 'b', 'c']);
  });

  it('are one line each, with a count', () => {
    const note = { message: 'line\n  two', count: 3, lastTimestamp: '2026-01-01T00:00:02Z' };
    expect(eventLines([event('a', 'uid-app', note)])).to.deep.equal([
      '2026-01-01T00:00:02Z  Normal  Installation/app  Started  line two (3 times)',
    ]);
  });

  it('are wider with the first time and the program that reported them', () => {
    const times = { firstTimestamp: '2026-01-01T00:00:01Z', lastTimestamp: '2026-01-01T00:00:02Z' };
    const events = [
      event('a', 'uid-app', { ...times, source: { component: 'kubelet' } }),
      event('b', 'uid-app', { eventTime: '2026-01-01T00:00:03.5Z', reportingComponent: 'espalier' }),
    ];
    expect(eventLines(events, true)).to.deep.equal([
      '2026-01-01T00:00:01Z  2026-01-01T00:00:02Z  Normal  Installation/app  Started  kubelet   a',
      '2026-01-01T00:00:03Z  2026-01-01T00:00:03Z  Normal  Installation/app  Started  espalier  b',
    ]);
  });
});
