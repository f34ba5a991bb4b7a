/** Converts between v1 and events.k8s.io/v1 events, which have different field names; v1 is the stored form. */
import type { JsonObject, KubeObject } from '../types.ts';

/** Member of v1 → member of events.k8s.io/v1. */
const NAMES: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];
const FORWARD = new Map(NAMES);
const BACKWARD = new Map(NAMES.map(([core, other]) => [other, core]));

function renamed(object: KubeObject, names: ReadonlyMap<string, string>, apiVersion: string): KubeObject {
  const result: JsonObject = {};
  for (const [member, value] of Object.entries(object)) result[names.get(member) ?? member] = value;
  return { ...result, kind: 'Event', apiVersion, metadata: object.metadata };
}

export const eventConversion = {
  fromStorage: (object: KubeObject): KubeObject => renamed(object, FORWARD, 'events.k8s.io/v1'),
  toStorage: (object: KubeObject): KubeObject => renamed(object, BACKWARD, 'v1'),
};
